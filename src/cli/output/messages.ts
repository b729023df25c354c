import { stripVTControlCharacters } from 'node:util';
import { jsonLine } from './formats.ts';
import type { Output } from './output.ts';
import { cleanText, wrapWords } from './text.ts';
import { MARKS, paint, type Palette, plainPalette, type Tone } from './view.ts';

/** The verbosity of stderr. */
export type NoticeLevel = 'quiet' | 'normal' | 'debug';

/** The form of stderr: lines for people, or JSON objects for a log collector, each with a time from `clock`. */
export type NoticeForm = 'text' | { readonly clock: { now(): number } };

const RANK = { quiet: 0, normal: 1, debug: 2 } as const;

/** Writes messages to stderr, by level. Makes every text safe for a terminal. Callers do not wait for a write to end. */
export class Messages {
  readonly level: NoticeLevel;
  readonly #out: Output;
  readonly #palette: Palette;
  readonly #marks: boolean;
  readonly #unicode: boolean;
  #last: Promise<void> = Promise.resolve();
  readonly #subject: string;
  readonly #form: NoticeForm;
  #needsGap = false;

  /** `unicode` says whether the terminal can show ✓ and ✗. */
  constructor(
    out: Output,
    level: NoticeLevel,
    palette: Palette = plainPalette,
    unicode = false,
    { subject = '', form = 'text' }: { readonly subject?: string; readonly form?: NoticeForm } = {},
  ) {
    this.#out = out;
    this.#subject = subject;
    this.#form = form;
    this.#unicode = unicode;
    this.level = level;
    this.#palette = palette;
    this.#marks = unicode && out.isTerminal;
  }

  /** Returns messages whose texts begin with a subject, such as the name of a profile. */
  withSubject(subject: string): Messages {
    return new Messages(this.#out, this.level, this.#palette, this.#unicode, {
      subject: `${subject}: `,
      form: this.#form,
    });
  }

  /** Puts an empty line before the next notice on a terminal, to separate it from data. */
  setApart(): void {
    this.#needsGap = true;
  }

  /** Reports a fact or the next step. Silent with `--quiet`. */
  note(text: string): void {
    if (this.shows('normal')) this.#print(text, { level: 'info', tone: 'quiet' });
  }

  /** Reports a success, on a terminal with ✓. Silent with `--quiet`. */
  success(text: string): void {
    this.#result(text, 'good');
  }

  /** Reports a failure that does not end the command, on a terminal with ✗. Silent with `--quiet`. */
  failure(text: string): void {
    this.#result(text, 'bad');
  }

  /** Writes a command to copy on a separate line, which is never wrapped. */
  command(text: string, level: NoticeLevel = 'normal'): void {
    if (!this.shows(level)) return;
    if (this.#form === 'text') this.#send(`  ${cleanText(text)}\n`);
    else this.#record(this.#form, { level: 'info', command: text });
  }

  /** Writes a purpose and a command to copy on one line, which is never wrapped. */
  commandAfter(purpose: string, text: string): void {
    if (!this.shows('normal')) return;
    if (this.#form !== 'text') return this.#record(this.#form, { level: 'info', message: purpose, command: text });
    this.#sendLine(`${paint(`${purpose}:`, 'quiet', this.#palette)} ${cleanText(text)}`);
  }

  /** Warns of something to check, even with `--quiet`. */
  warn(text: string): void {
    this.#print(text, { level: 'warning', mark: 'warning: ', markTone: 'warn' });
  }

  /** Writes details for debugging, with `--debug`. */
  debug(text: string): void {
    if (this.shows('debug')) this.#print(text, { level: 'debug', tone: 'quiet' });
  }

  /** Writes an object as a line of JSON, for a log collector. */
  log(entry: Readonly<Record<string, unknown>>): void {
    this.#send(`${jsonLine(entry)}\n`);
  }

  /** Writes a finished error report, already safe and with its newline, at every level. */
  report(text: string): void {
    this.#send(text);
  }

  /** Writes drawn lines, already safe and with newlines, at every level. A log collector gets the text in one record. */
  drawn(text: string): void {
    if (this.#form === 'text') this.#send(text);
    else this.#record(this.#form, { level: 'info', message: stripVTControlCharacters(text).trim() });
  }

  /** Whether messages of a level are shown, so that callers can skip building a costly text. */
  shows(level: NoticeLevel): boolean {
    return RANK[this.level] >= RANK[level];
  }

  /** Resolves when all earlier messages are written to stderr, or their writes failed. */
  async flushed(): Promise<void> {
    await this.#last;
  }

  #result(text: string, tone: 'good' | 'bad'): void {
    const level = tone === 'good' ? 'info' : 'error';
    if (this.shows('normal')) this.#print(text, this.#marks ? { level, mark: MARKS[tone], markTone: tone } : { level });
  }

  // Prints one line, so that text from elsewhere, such as an event's id, cannot imitate another message.
  #print(
    text: string,
    { level, mark = '', markTone, tone }: { level: string; mark?: string; markTone?: Tone; tone?: Tone },
  ): void {
    if (this.#form !== 'text') return this.#record(this.#form, { level, message: this.#subject + text });
    const clean = this.#fitted(cleanText(this.#subject + text), mark.length);
    this.#sendLine(`${paint(mark, markTone, this.#palette)}${paint(clean, tone, this.#palette)}`);
  }

  #sendLine(line: string): void {
    const gap = this.#needsGap && this.#out.isTerminal ? '\n' : '';
    this.#needsGap = false;
    this.#send(`${gap}${line}\n`);
  }

  #record({ clock }: Exclude<NoticeForm, 'text'>, members: Readonly<Record<string, unknown>>): void {
    this.log({ time: new Date(clock.now()).toISOString(), ...members });
  }

  // A terminal would break a line within a word, so lines are wrapped here. In a pipe, lines are not wrapped.
  #fitted(text: string, taken: number): string {
    const width = this.#out.isTerminal ? this.#out.width - taken : Infinity;
    if (text.length <= width) return text;
    const indent = /^ */.exec(text)?.[0] ?? '';
    const lines = wrapWords(text, width - indent.length).map((part) => indent + part);
    return lines.join('\n');
  }

  // Ignores failures, since a failure of stderr cannot be reported anywhere. Writes end in the order in which they began.
  #send(text: string): void {
    this.#last = this.#out.write(text).catch(() => {});
  }
}
