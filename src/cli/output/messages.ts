import type { Output } from './output.ts';
import { cleanText, wrapWords } from './text.ts';
import { MARKS, paint, type Palette, plainPalette, type Tone } from './view.ts';

/** The verbosity of stderr. */
export type NoticeLevel = 'quiet' | 'normal' | 'debug';

const RANK = { quiet: 0, normal: 1, debug: 2 } as const;

/** Messages on stderr, by level. Every text is made safe; callers do not wait until it is written. */
export class Messages {
  readonly level: NoticeLevel;
  readonly #out: Output;
  readonly #palette: Palette;
  readonly #marks: boolean;
  readonly #unicode: boolean;
  #last: Promise<void> = Promise.resolve();
  readonly #subject: string;
  #isApart = true;

  /** `unicode`: whether a terminal can show ✓ and ✗. */
  constructor(out: Output, level: NoticeLevel, palette: Palette = plainPalette, unicode = false, subject = '') {
    this.#out = out;
    this.#subject = subject;
    this.#unicode = unicode;
    this.level = level;
    this.#palette = palette;
    this.#marks = unicode && out.isTerminal;
  }

  /** Returns messages whose texts begin with this subject. */
  of(subject: string): Messages {
    return new Messages(this.#out, this.level, this.#palette, this.#unicode, `${subject}: `);
  }

  /** Separates the next notice from data on a terminal by an empty line. */
  setApart(): void {
    this.#isApart = false;
  }

  /** Reports what happened or happens next. Silent with `--quiet`. */
  note(text: string): void {
    if (this.shows('normal')) this.#print(text, { tone: 'quiet' });
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
    if (this.shows(level)) this.#send(`  ${cleanText(text)}\n`);
  }

  /** Warns of something to check. Shown with `--quiet` too. */
  warn(text: string): void {
    this.#print(text, { mark: 'warning: ', markTone: 'warn' });
  }

  /** Writes details for debugging, with `--debug`. */
  debug(text: string): void {
    if (this.shows('debug')) this.#print(text, { tone: 'quiet' });
  }

  /** Writes a finished error report, already safe and with its newline, at every level. */
  report(text: string): void {
    this.#send(text);
  }

  /** Whether texts of this level are shown, to skip building a costly one. */
  shows(level: NoticeLevel): boolean {
    return RANK[this.level] >= RANK[level];
  }

  /** Resolves when stderr has accepted all earlier messages, or failed to. */
  async settled(): Promise<void> {
    await this.#last;
  }

  #result(text: string, tone: 'good' | 'bad'): void {
    if (this.shows('normal')) this.#print(text, this.#marks ? { mark: MARKS[tone], markTone: tone } : {});
  }

  // A notice is one line, so that foreign text, such as an event's id, cannot imitate another notice.
  #print(text: string, { mark = '', markTone, tone }: { mark?: string; markTone?: Tone; tone?: Tone }): void {
    const clean = this.#fitted(cleanText(this.#subject + text), mark.length);
    const gap = this.#isApart || !this.#out.isTerminal ? '' : '\n';
    this.#isApart = true;
    this.#send(`${gap}${paint(mark, markTone, this.#palette)}${paint(clean, tone, this.#palette)}\n`);
  }

  // A terminal would break a line within a word, so svc wraps it; a pipe gets one line.
  #fitted(text: string, taken: number): string {
    const width = this.#out.isTerminal ? this.#out.width - taken : Infinity;
    if (text.length <= width) return text;
    const indent = /^ */.exec(text)?.[0] ?? '';
    const lines = wrapWords(text, width - indent.length).map((part) => indent + part);
    return lines.join('\n');
  }

  // A failure of stderr cannot be reported anywhere. Writes end in the order in which they began.
  #send(text: string): void {
    this.#last = this.#out.write(text).catch(() => {});
  }
}
