// How to read an export: what the operator says of it, and what the command adds.

import type { Check } from '../request/checks.ts';
import type { Overflow } from '../request/row-buckets.ts';
import type { CsvRow } from '../csv-rows.ts';
import type { ColumnChoice } from './prepare-columns.ts';
import type { RepeatedRows } from './row-dates.ts';

/** The operator's options for reading an export. Each is an option of the command line. */
export interface ReadingOptions {
  /** The operator's choice of columns. Other columns are found by well-known names. */
  readonly columns?: readonly ColumnChoice[] | undefined;
  /** The names of all columns of an export without a header, in their order. */
  readonly columnNames?: readonly string[] | undefined;
  /** Whether quotes are text, because the format has none. */
  readonly noQuotes?: boolean | undefined;
  /** The orders in which to read ambiguous dates; each text may name several, with commas. */
  readonly dateOrder?: readonly string[] | undefined;
  /** Whether the operator said that no column is the expiration, so that none is proposed. */
  readonly noExpiration?: boolean | undefined;
  /** Whether the operator said that no column is the merchant, so that none is proposed. */
  readonly noMerchant?: boolean | undefined;
  /** The time zone in whose calendar times with a zone are read. Default: the zone that each time names. */
  readonly dateZone?: string | undefined;
  /** Words that mean "no merchant", such as NA. */
  readonly empty?: readonly string[] | undefined;
  /** Whether the operator said that such words are names of merchants. */
  readonly noEmpty?: boolean | undefined;
  /** The checks whose findings the operator accepts. */
  readonly accept?: readonly Check[] | undefined;
  /** The names of columns to write to a separate file, for a later join by token. */
  readonly keep?: readonly string[] | undefined;
}

export interface PrepareOptions extends ReadingOptions {
  /** Tells whether the token of a row must be a UUID, because an earlier reading found that most are. */
  readonly onlyUuids?: ((cells: readonly string[]) => boolean) | undefined;
  /** The rows that an earlier reading found to be repeated. */
  readonly repeated?: RepeatedRows | undefined;
  /** Tells whether a row below the header is passed over. */
  readonly isSkipped?: ((row: CsvRow) => boolean) | undefined;
  /** The time that dates are compared with, in milliseconds. */
  readonly now?: number | undefined;
  /** Opens a file for the hashes of rows that do not fit into memory. Default: memory takes all. */
  readonly openOverflow?: (() => Promise<Overflow>) | undefined;
  /** The operator's list of tokens to leave out. */
  readonly exclusions?: TokenList | undefined;
  /** The name of the export in messages. */
  readonly name?: string | undefined;
}

/** A file of tokens. */
export interface TokenList {
  /** Returns the line of a token, or 0. */
  lineOf(token: string): number;
}
