// The format and the limits of a request file.

import type { Check, Doubt } from './checks.ts';
import { MAX_REQUEST_FILE_BYTES, MAX_REQUEST_FILE_ROWS, REQUEST_COLUMNS } from '../../schema/account-updater-files.ts';

export type RequestColumn = (typeof REQUEST_COLUMNS)[number];

/** The first line of a request file, without its line end. */
export const REQUEST_HEADER = REQUEST_COLUMNS.join(',');

/** The limits of the service for one file: 30 MB and about 300,000 rows. */
export const REQUEST_LIMITS: RequestLimits = { bytes: MAX_REQUEST_FILE_BYTES, rows: MAX_REQUEST_FILE_ROWS };

export const LF = 10;
export const CR = 13;

/** The longest line in bytes, without the line end. Bounds memory on input without lines. */
export const MAX_LINE_LENGTH = 16_384;

/** The limits of one upload, and so of each part of a larger file. */
export interface RequestLimits {
  readonly bytes: number;
  /** The largest number of rows, without the header. */
  readonly rows: number;
}

/** The rules for a request file. Scripts rely on these names. */
export type Rule =
  | 'empty_file'
  | 'encoding'
  | 'wrong_file'
  | 'byte_order_mark'
  | 'header'
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
  | 'rehearsal_token'
  | 'year'
  | 'month'
  | 'card_number'
  | 'tokens'
  | 'numbers'
  | 'marks'
  | 'years'
  | 'date'
  | 'date_order';

/** A problem of a line. It never contains the value of a cell that could be a card number. */
export interface Finding {
  /** The column with the problem, if it concerns a single column. */
  readonly column?: RequestColumn | undefined;
  /** A description of the problem, with the fix unless that is obvious. */
  readonly problem: string;
  readonly rule: Rule;
}

/** A problem with its line. The header is line 1. */
export interface Problem extends Finding {
  readonly line: number;
}

/** The number of problems that are shown, and kept of each rule. */
export const PROBLEMS_KEPT = 20;

/** Collects problems in bounded memory: the first 20 of each rule, in the order of their lines, and the total numbers. */
export class Problems {
  readonly first: Problem[] = [];
  readonly byRule: Partial<Record<Rule, number>> = {};
  count = 0;

  add(line: number, findings: readonly Finding[]): void {
    for (const finding of findings) {
      this.count += 1;
      const ofRule = (this.byRule[finding.rule] ?? 0) + 1;
      this.byRule[finding.rule] = ofRule;
      if (ofRule <= PROBLEMS_KEPT) this.first.push({ line, ...finding });
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

/** A part of a file for one upload: the header, then the bytes of the file from `start` to `end`. */
export interface RequestFilePart {
  /** The number of the part's first row. The first row of the file is 1. */
  readonly firstRow: number;
  readonly rows: number;
  /** The offset in the file of the part's first row, in bytes. */
  readonly start: number;
  /** The offset in the file after the part's last row. */
  readonly end: number;
  /** The size of the upload, including the header. */
  readonly bytes: number;
  /** The SHA-256 in hexadecimal of the upload, including the header. */
  readonly sha256: string;
}

/** Rows with the token and merchant of an earlier row. Such rows are sent once. */
export interface RepeatedRows {
  readonly count: number;
  /** The first rows, each with the line of the row that it repeats. */
  readonly first: readonly { readonly line: number; readonly firstLine: number }[];
  /** The lines of all rows. */
  readonly lines: readonly number[];
  /** Whether rows differ in their merchants, so that a token may occur in several rows. */
  readonly hasSeveralMerchants: boolean;
}

/** The overview of a file: its tokens, merchants and expirations. */
export interface FileOverview {
  /** The checks of rows that found something, which the operator accepted. */
  readonly accepted: ReadonlySet<Check>;
  readonly rows: number;
  readonly uuids: number;
  /** Lines of tokens that are no UUIDs. */
  readonly others: Pick<CountedLines, 'count' | 'first'>;
  /** The most frequent shapes of these tokens, never the tokens themselves. */
  readonly shapes: readonly { readonly shape: string; readonly rows: number }[];
  /** The number of different merchants; undefined if they are too many to count. */
  readonly merchants: number | undefined;
  /** Rows with a merchant. */
  readonly withMerchant: number;
  /** Merchants that look like ids. Merchants of only one or two rows are left out: they may be names of people. */
  readonly named: readonly string[];
  /** A merchant that other rows have without its leading zeros. */
  readonly zeros: string | undefined;
  /** The first and the last expiration, as YYYY-MM. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly dated: number;
  readonly past: number;
  /** Rows that expired more than two years ago. */
  readonly longPast: number;
  readonly far: number;
}

export interface RequestFileCheck {
  /** Whether the file has no problems. A file over the limits can still be `ok`, and then has several parts. */
  readonly ok: boolean;
  /** The number of lines that are not blank, without the header. */
  readonly rows: number;
  readonly bytes: number;
  /** The SHA-256 of the whole file in hexadecimal. */
  readonly sha256: string;
  /** The first problems, in the order of their lines. */
  readonly problems: readonly Problem[];
  readonly problemCount: number;
  /** Rows that repeat the token and merchant of an earlier row, in the order of their lines. */
  readonly duplicates: RepeatedRows;
  /** Rows with a longer run of digits that begins or ends with a card number. A third of long random numbers do. */
  readonly attachedDigits: { readonly count: number; readonly first: readonly number[] };
  /** The overview of the file, if it was requested. */
  readonly overview: FileOverview | undefined;
  /** Valid but implausible rows, such as a row with the merchant NULL. */
  readonly implausible: Pick<Problems, 'count' | 'first' | 'byRule'>;
  /** The doubts about the whole file. */
  readonly doubts: readonly Doubt[];
  /** The limits of one upload that the file exceeds. */
  readonly exceeds: { readonly bytes: boolean; readonly rows: boolean };
  /** The length in bytes of the header line with its line end; 0 for a file that is not `ok`. */
  readonly headerBytes: number;
  /** The parts to upload: one for a file within the limits, none for a file that is not `ok`. */
  readonly parts: readonly RequestFilePart[];
}
