// Splits CSV files into rows and cells, much faster than csv-parse.

/** A row of a CSV file. */
export interface CsvRow {
  readonly cells: readonly string[];
  /** The line where the row starts. The first line of the file is 1. */
  readonly line: number;
  readonly endsWithReturn: boolean;
  /** Whether the cells were quoted: all or none of them, or each by itself. */
  readonly quoted: boolean | readonly boolean[];
  /** Whether a line of the row was read in another encoding than the file. */
  readonly isConverted: boolean;
  /** The lines of a row that has several, because a quoted cell contains line ends. */
  readonly lines?: readonly string[] | undefined;
}

/** The delimiters of columns. Spreadsheets do not always save a file with commas. */
export const DELIMITERS = [',', ';', '\t', '|'] as const;

export type Delimiter = (typeof DELIMITERS)[number];

/** Returns the delimiter with which a header has all of the names; a comma if there is none. */
export function delimiterWith(header: string, names: readonly string[]): Delimiter {
  const delimiter = DELIMITERS.find((delimiter) => {
    const split = splitCells(header, { delimiter });
    if (split.fault !== undefined) return false;
    const cells = new Set(split.cells.map((cell) => cell.trim()));
    return names.every((name) => cells.has(name));
  });
  return delimiter ?? ',';
}

/** Removes a first line such as `sep=;`, which names the delimiter for a spreadsheet. */
export function withoutSeparatorLine(head: string): string {
  return head.replace(/^\uFEFF?sep=.[ \t]*(?:\r\n|\r(?!\n|$)|\n)/i, '');
}

/** The form of a file, beside RFC 4180. */
export interface CsvForm {
  readonly delimiter?: string;
  /** Whether cells may be quoted, which is the default. Otherwise quotes are text, and each line is a row. */
  readonly hasQuotes?: boolean;
  /** A line feed by default. A return before a line feed is no part of a cell. */
  readonly lineEnd?: '\n' | '\r';
  /** Whether spaces may stand around the quotes of a cell, and a quote in a cell that does not begin with one is text. */
  readonly isLenient?: boolean;
}

/** The reason why the rows after a line cannot be separated. */
export type CsvFault = 'open' | 'stray' | 'too_long';

/** The reasons why a file is no readable CSV, for messages. */
export const CSV_FAULTS: Readonly<Record<CsvFault, string>> = {
  open: 'a quoted cell does not end',
  stray: 'a quote stands inside a cell; quote the whole cell and write the quote twice',
  too_long: 'the row is too long: is a quote not closed?',
};

const NONE: ReadonlySet<number> = new Set();

/** The characters that may end a file of DOS, or fill up its last block. */
export const END_MARKS = '\u001A\0';

/**
 * Splits the text of a file, in chunks of any size, into rows of cells (RFC 4180). Rows without quotes, the usual case,
 * are split at each delimiter, which is many times faster than examining every character. csv-parse, which takes more
 * forms of CSV, reads only what people edit: the list of exclusions.
 */
export class CsvRows {
  readonly #form: CsvForm;
  readonly #delimiter: string;
  readonly #lineEnd: string;
  readonly #longestRow: number;
  readonly #take: (row: CsvRow) => void;
  /** The text after the last line end. */
  #rest = '';
  /** The lines of a row whose last quote is still open. */
  #open: string | undefined;
  #start = 1;
  #line = 0;
  #isConverted = false;
  #isRestConverted = false;
  #fault: CsvFault | undefined;

  /** `longestRow`, in characters, bounds memory for a quote that is never closed. `take` gets each row. */
  constructor(form: CsvForm & { readonly longestRow: number }, take: (row: CsvRow) => void) {
    this.#form = form;
    this.#delimiter = form.delimiter ?? ',';
    this.#lineEnd = form.lineEnd ?? '\n';
    this.#longestRow = form.longestRow;
    this.#take = take;
  }

  /** The reason and the line where reading stopped; undefined while rows can be separated. */
  get stop(): { readonly why: CsvFault; readonly line: number } | undefined {
    return this.#fault === undefined ? undefined : { why: this.#fault, line: this.#start };
  }

  /** Whether the text so far ends with a line end. */
  get endsWithLineEnd(): boolean {
    return this.#rest === '';
  }

  /** Reads text. `converted` are its lines, counted from 0, in another encoding; such text has whole lines. */
  feed(text: string, converted: ReadonlySet<number> = NONE): void {
    const lines = (this.#rest + text).split(this.#lineEnd);
    this.#rest = lines.pop() ?? '';
    if (converted.size === 0) for (const line of lines) this.#takeLine(line);
    else {
      for (const [at, line] of lines.entries()) this.#takeLine(line, converted.has(at));
      if (converted.has(lines.length)) this.#isRestConverted = true;
    }
    if (this.#rest.length <= this.#longestRow) return;
    if (this.#open === undefined) this.#start = this.#line + 1;
    this.#fail('too_long');
  }

  /** Reads the last line of a file that does not end with a line end. */
  finish(): void {
    while (END_MARKS.includes(this.#rest.at(-1) ?? ' ')) this.#rest = this.#rest.slice(0, -1);
    if (this.#rest !== '') this.#takeLine(this.#rest, this.#isRestConverted);
    if (this.#open !== undefined) this.#fail('open');
  }

  #takeLine(line: string, isConverted = false): void {
    if (this.#fault !== undefined) return;
    this.#line += 1;
    this.#isConverted = isConverted || (this.#open !== undefined && this.#isConverted);
    if (this.#open === undefined) {
      this.#start = this.#line;
      if (this.#form.hasQuotes === false || !line.includes('"')) return this.#takePlain(line);
      return this.#takeQuoted(line);
    }
    const whole = `${this.#open}${this.#lineEnd}${line}`;
    // Without another quote, the row continues on the next line.
    if (line.includes('"')) return this.#takeQuoted(whole);
    this.#keepOpen(whole);
  }

  #takePlain(line: string): void {
    if (line.length > this.#longestRow) return this.#fail('too_long');
    const endsWithReturn = line.endsWith('\r');
    const cells = cellsOf(endsWithReturn ? line.slice(0, -1) : line, this.#delimiter);
    const isConverted = this.#isConverted;
    this.#take({ cells, line: this.#start, endsWithReturn, quoted: false, isConverted });
  }

  #takeQuoted(line: string): void {
    const endsWithReturn = line.endsWith('\r');
    const split = splitCells(endsWithReturn ? line.slice(0, -1) : line, this.#form);
    if (split.fault === 'open') return this.#keepOpen(line);
    const lines = this.#open === undefined ? undefined : line.split(this.#lineEnd);
    this.#open = undefined;
    if (split.fault !== undefined) return this.#fail(split.fault);
    const { cells, quoted } = split;
    const isConverted = this.#isConverted;
    this.#take({ cells, line: this.#start, endsWithReturn, quoted, isConverted, lines });
  }

  #keepOpen(lines: string): void {
    if (lines.length > this.#longestRow) this.#fail('too_long');
    else this.#open = lines;
  }

  #fail(why: CsvFault): void {
    this.#open = undefined;
    this.#rest = '';
    this.#fault ??= why;
  }
}

/** Tells whether a cell of a row was quoted. */
export function isQuoted({ quoted }: Pick<CsvRow, 'quoted'>, at: number): boolean {
  return typeof quoted === 'boolean' ? quoted : quoted[at] === true;
}

/** The cells of a row, or the problem with its quotes. */
export type SplitCells =
  | (Pick<CsvRow, 'cells' | 'quoted'> & { readonly fault?: undefined })
  | { readonly fault: 'open' | 'stray' };

/**
 * Splits one row into cells. Quoted cells may contain delimiters, line ends, and quotes written twice. `open`: a quoted
 * cell does not end. `stray`: there is a quote within an unquoted cell, or text after a closing quote.
 */
export function splitCells(row: string, { delimiter = ',', isLenient = false }: CsvForm = {}): SplitCells {
  const whole = allQuoted(row, delimiter);
  if (whole !== undefined) return { cells: whole, quoted: true };
  const cells: string[] = [];
  const quoted: boolean[] = [];
  const contentAt = (from: number): number => (isLenient ? behindSpaces(row, from, delimiter) : from);
  for (let at = 0; at <= row.length; at += 1) {
    const start = contentAt(at);
    if (row[start] !== '"') {
      const next = row.indexOf(delimiter, at);
      const end = next === -1 ? row.length : next;
      const cell = row.slice(at, end);
      if (!isLenient && cell.includes('"')) return { fault: 'stray' };
      cells.push(cell);
      quoted.push(false);
      at = end;
      continue;
    }
    const close = closingQuote(row, start + 1);
    if (close === -1) return { fault: 'open' };
    const end = contentAt(close + 1);
    if (end < row.length && row[end] !== delimiter) return { fault: 'stray' };
    cells.push(row.slice(start + 1, close).replaceAll('""', '"'));
    quoted.push(true);
    at = end;
  }
  return { cells, quoted };
}

/** Returns the cells of a row that are all quoted and contain no quote, as most programs quote; otherwise undefined. */
function allQuoted(row: string, delimiter: string): readonly string[] | undefined {
  const cells: string[] = [];
  for (let at = 0; row[at] === '"';) {
    const close = row.indexOf('"', at + 1);
    if (close === -1) return undefined;
    cells.push(row.slice(at + 1, close));
    if (close === row.length - 1) return cells;
    if (row[close + 1] !== delimiter) return undefined;
    at = close + 2;
  }
  return undefined;
}

/** Splits a row without quotes. `split` takes twice as long for a text that was never split before. */
function cellsOf(row: string, delimiter: string): readonly string[] {
  const cells: string[] = [];
  let start = 0;
  for (let end = row.indexOf(delimiter); end !== -1; end = row.indexOf(delimiter, start)) {
    cells.push(row.slice(start, end));
    start = end + delimiter.length;
  }
  cells.push(row.slice(start));
  return cells;
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
