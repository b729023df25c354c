import { MAX_REQUEST_FILE_BYTES, MAX_REQUEST_FILE_ROWS, REQUEST_COLUMNS } from '../../schema/account-updater-files.ts';

export type RequestColumn = (typeof REQUEST_COLUMNS)[number];

/** The first line of a request file, without its line end. */
export const REQUEST_HEADER = REQUEST_COLUMNS.join(',');

/** What the service takes in one file: 30 MB, and about 300 thousand rows. */
export const REQUEST_LIMITS: RequestLimits = { bytes: MAX_REQUEST_FILE_BYTES, rows: MAX_REQUEST_FILE_ROWS };

export const LF = 10;
export const CR = 13;

/** The longest line read, in bytes without the line end. Bounds memory on input that has no lines. */
export const LONGEST_LINE = 16_384;

/** The most that one file may contain; also the size of the parts of a larger one. */
export interface RequestLimits {
  readonly bytes: number;
  /** Rows without the header. */
  readonly rows: number;
}

/** What a request file must not break. Stable names, for scripts. */
export type Rule =
  | 'empty_file'
  | 'encoding'
  | 'wrong_file'
  | 'byte_order_mark'
  | 'header_absent'
  | 'header_case'
  | 'header_delimiter'
  | 'header_missing_column'
  | 'header_order'
  | 'header_quoted'
  | 'header_repeated_column'
  | 'header_spacing'
  | 'header_unknown_column'
  | 'no_rows'
  | 'blank_line'
  | 'line_too_long'
  | 'columns'
  | 'quoting'
  | 'quoted_newline'
  | 'control_character'
  | 'invisible_character'
  | 'surrounding_space'
  | 'token_empty'
  | 'year'
  | 'month'
  | 'card_number'
  | 'date'
  | 'date_order';

/** What is wrong with a line. Never contains the value of a cell that could be a card number. */
export interface Finding {
  /** The column at fault, where it is one. */
  readonly column?: RequestColumn | undefined;
  /** What is wrong, and how to fix it where that is not obvious. */
  readonly problem: string;
  readonly rule: Rule;
}

/** A finding and its line; the header is line 1. */
export interface Problem extends Finding {
  readonly line: number;
}

const PROBLEMS_KEPT = 20;

/** Collects problems in bounded memory: the first 20, and counts of all. */
export class Problems {
  readonly first: Problem[] = [];
  readonly byRule: Partial<Record<Rule, number>> = {};
  count = 0;

  add(line: number, findings: readonly Finding[]): void {
    for (const finding of findings) {
      this.count += 1;
      this.byRule[finding.rule] = (this.byRule[finding.rule] ?? 0) + 1;
      if (this.first.length < PROBLEMS_KEPT) this.first.push({ line, ...finding });
    }
  }
}

const LINES_KEPT = 20;

/** Counts lines in bounded memory, and keeps the first 20. */
export class CountedLines {
  readonly first: number[] = [];
  count = 0;

  add(line: number): void {
    this.count += 1;
    if (this.first.length < LINES_KEPT) this.first.push(line);
  }
}

/** Rows that fit into one upload: the header, then the file's bytes from `start` to `end`. */
export interface RequestFilePart {
  /** The first row of the part; the file's first row is 1. */
  readonly firstRow: number;
  readonly rows: number;
  /** Offset of its first row in the file, in bytes. */
  readonly start: number;
  /** Offset behind its last row. */
  readonly end: number;
  /** Size of the upload, the header included. */
  readonly bytes: number;
  /** Of the upload, the header included; hexadecimal. */
  readonly sha256: string;
}

export interface RequestFileCheck {
  /** Whether nothing is wrong. A file over the limits can still be `ok`: it then has several parts. */
  readonly ok: boolean;
  /** Lines that contain something, the header aside. */
  readonly rows: number;
  readonly bytes: number;
  /** Of the whole file; hexadecimal. */
  readonly sha256: string;
  /** The first problems, in the order of lines. */
  readonly problems: readonly Problem[];
  readonly problemCount: number;
  readonly problemsByRule: Readonly<Partial<Record<Rule, number>>>;
  readonly duplicates: {
    /** How many rows repeat the token of a row above. */
    readonly count: number;
    readonly first: readonly { readonly line: number; readonly firstLine: number }[];
    /** The last line compared, where there were too many different tokens to compare all; else undefined. */
    readonly comparedTo: number | undefined;
  };
  /** Rows with a run of digits that begins or ends with a card number, as a third of long random numbers do. */
  readonly attachedDigits: { readonly count: number; readonly first: readonly number[] };
  /** Which limits of one upload the file exceeds. */
  readonly exceeds: { readonly bytes: boolean; readonly rows: boolean };
  /** Length of the header line with its line end, in bytes; 0 when the file is not `ok`. */
  readonly headerBytes: number;
  /** How the file is uploaded: one part when it is within the limits, none when it is not `ok`. */
  readonly parts: readonly RequestFilePart[];
}
