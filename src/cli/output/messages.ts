import { stripVTControlCharacters } from 'node:util';
import { jsonLine } from './formats.ts';
import type { Output } from './output.ts';
import { cleanText } from './text.ts';
import { wrapWords } from './wrap.ts';
import { MARKS, paint, type Palette, plainPalette, type Tone } from './view.ts';

/** The verbosity of stderr. */
export type NoticeLevel = 'quiet' | 'normal' | 'debug';

const RANK = { quiet: 0, normal: 1, debug: 2 } as const;

interface MessageOptions {
  readonly palette?: Palette;
  /** Whether the terminal can show ✓ and ✗. Default false. */
  readonly unicode?: boolean;
  /** The beginning of each text, such as the name of a profile. */
  readonly subject?: string;
  /** The clock of a log collector, which gets JSON objects with a time instead of lines for people. */
  readonly logClock?: LogClock | undefined;
}

interface LogClock {
  now(): number;
}

/** Writes messages to stderr, by level. Makes every text safe for a terminal. Does not wait for a write; see `flushed`. */
export class Messages {
  readonly level: NoticeLevel;
  readonly #out: Output;
  readonly #options: MessageOptions;
  readonly #palette: Palette;
  #last: Promise<void> = Promise.resolve();

  constructor(out: Output, level: NoticeLevel, options: MessageOptions = {}) {
    this.#out = out;
    this.level = level;
    this.#options = options;
    this.#palette = options.palette ?? plainPalette;
  }

  /** Returns messages whose texts begin with a subject, such as the name of a profile. */
  withSubject(subject: string): Messages {
    return new Messages(this.#out, this.level, { ...this.#options, subject: `${subject}: ` });
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
    const { logClock } = this.#options;
    if (logClock === undefined) this.#send(`  ${cleanText(text)}\n`);
    else this.#record(logClock, { level: 'info', command: text });
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
    const { logClock } = this.#options;
    if (logClock === undefined) this.#send(text);
    else this.#record(logClock, { level: 'info', message: stripVTControlCharacters(text).trim() });
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
    const mark = this.#options.unicode && this.#out.isTerminal ? { mark: MARKS[tone], markTone: tone } : {};
    if (this.shows('normal')) this.#print(text, { level, ...mark });
  }

  // Prints one line, so that text from elsewhere, such as an event's id, cannot imitate another message.
  #print(
    text: string,
    { level, mark = '', markTone, tone }: { level: string; mark?: string; markTone?: Tone; tone?: Tone },
  ): void {
    const { logClock, subject = '' } = this.#options;
    if (logClock) return this.#record(logClock, { level, message: subject + text });
    const clean = this.#fitted(cleanText(subject + text), mark.length);
    this.#send(`${paint(mark, markTone, this.#palette)}${paint(clean, tone, this.#palette)}\n`);
  }

  #record(clock: LogClock, members: Readonly<Record<string, unknown>>): void {
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

  // Ignores failures, which cannot be reported anywhere. Writes end in order, so `flushed` waits for the last one only.
  #send(text: string): void {
    this.#last = this.#out.write(text).catch(() => {});
  }
}
