/** The longest row of an export. Bounds memory for a quote that is never closed. */
const LONGEST_ROW = 64 * 1024;

/** A row of an export. */
export interface ExportRow {
  readonly cells: readonly string[];
  /** The line where the row starts. The header is line 1. */
  readonly line: number;
  readonly endsWithReturn: boolean;
  /** Whether there are spaces outside the quotes of a cell. */
  readonly hasPaddedQuotes: boolean;
}

/** The reason why the rows after a line cannot be separated. */
export type Unreadable = 'open_quote' | 'stray_quote' | 'too_long';

/**
 * Splits the text of an export, in chunks of any size, into rows of cells (RFC 4180, and spaces around quotes are
 * allowed). Rows without quotes, the usual case, are split at each delimiter, which is many times faster than examining
 * every character.
 */
export class ExportRows {
  readonly #delimiter: string;
  readonly #take: (row: ExportRow) => void;
  /** The text after the last line end. */
  #rest = '';
  /** The lines of a row whose last quote is still open. */
  #open: string | undefined;
  #start = 1;
  #line = 0;
  #unreadable: Unreadable | undefined;

  constructor(delimiter: string, take: (row: ExportRow) => void) {
    this.#delimiter = delimiter;
    this.#take = take;
  }

  /** The reason and the line where reading stopped; undefined while rows can be separated. */
  get stop(): { readonly why: Unreadable; readonly line: number } | undefined {
    return this.#unreadable === undefined ? undefined : { why: this.#unreadable, line: this.#start };
  }

  feed(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#takeLine(line);
    if (this.#rest.length <= LONGEST_ROW) return;
    if (this.#open === undefined) this.#start = this.#line + 1;
    this.#fail('too_long');
  }

  /** Reads the last line of a file that does not end with a line end. */
  finish(): void {
    if (this.#rest !== '') this.#takeLine(this.#rest);
    if (this.#open !== undefined) this.#fail('open_quote');
  }

  #takeLine(line: string): void {
    if (this.#unreadable !== undefined) return;
    this.#line += 1;
    if (this.#open === undefined) {
      this.#start = this.#line;
      if (!line.includes('"')) return this.#takePlain(line);
      return this.#takeQuoted(line);
    }
    const whole = `${this.#open}\n${line}`;
    // Without another quote, the row continues on the next line.
    if (line.includes('"')) return this.#takeQuoted(whole);
    this.#keepOpen(whole);
  }

  #takePlain(line: string): void {
    if (line.length > LONGEST_ROW) return this.#fail('too_long');
    const endsWithReturn = line.endsWith('\r');
    const cells = (endsWithReturn ? line.slice(0, -1) : line).split(this.#delimiter);
    this.#take({ cells, line: this.#start, endsWithReturn, hasPaddedQuotes: false });
  }

  #takeQuoted(line: string): void {
    const endsWithReturn = line.endsWith('\r');
    const split = splitQuoted(endsWithReturn ? line.slice(0, -1) : line, this.#delimiter);
    if (split === 'open') return this.#keepOpen(line);
    this.#open = undefined;
    if (split === 'stray') return this.#fail('stray_quote');
    this.#take({ ...split, line: this.#start, endsWithReturn });
  }

  #keepOpen(lines: string): void {
    if (lines.length > LONGEST_ROW) this.#fail('too_long');
    else this.#open = lines;
  }

  #fail(why: Unreadable): void {
    this.#open = undefined;
    this.#rest = '';
    this.#unreadable ??= why;
  }
}

type Split = Pick<ExportRow, 'cells' | 'hasPaddedQuotes'>;

/**
 * Splits a row with quotes. Returns `open` if a quoted cell does not end, `stray` for a quote inside an unquoted cell.
 */
function splitQuoted(row: string, delimiter: string): Split | 'open' | 'stray' {
  const cells: string[] = [];
  let hasPaddedQuotes = false;
  for (let at = 0; at <= row.length; at += 1) {
    const start = behindSpaces(row, at, delimiter);
    if (row[start] !== '"') {
      const next = row.indexOf(delimiter, at);
      const end = next === -1 ? row.length : next;
      const cell = row.slice(at, end);
      if (cell.includes('"')) return 'stray';
      cells.push(cell);
      at = end;
      continue;
    }
    const close = closingQuote(row, start + 1);
    if (close === -1) return 'open';
    const end = behindSpaces(row, close + 1, delimiter);
    if (end < row.length && row[end] !== delimiter) return 'stray';
    if (start > at || end > close + 1) hasPaddedQuotes = true;
    cells.push(row.slice(start + 1, close).replaceAll('""', '"'));
    at = end;
  }
  return { cells, hasPaddedQuotes };
}

function behindSpaces(row: string, from: number, delimiter: string): number {
  let at = from;
  while ((row[at] === ' ' || row[at] === '\t') && row[at] !== delimiter) at += 1;
  return at;
}

function closingQuote(row: string, from: number): number {
  for (let at = row.indexOf('"', from); at !== -1; at = row.indexOf('"', at + 2)) {
    if (row[at + 1] !== '"') return at;
  }
  return -1;
}
