// The fast path for the rows of a request file in their most common form.

import { inspectCell } from '../../base/security/card-number.ts';
import { REHEARSAL_PREFIX } from '../../schema/account-updater-files.ts';
import type { Overview } from './overview.ts';
import { type CountedLines, CR, LF, MAX_LINE_LENGTH } from './request-file.ts';
import type { RowRepeats } from './row-repeats.ts';

/** The point where the fast path must stop. */
export interface Capacity {
  readonly rows: number;
  /** The offset after which no row may end. */
  readonly end: number;
}

/**
 * Checks valid rows of the common form fast: ASCII, four columns, unquoted or plainly quoted, no card number. Starts at
 * `start` and stops at any other row or when `room` is used up. `bytes` must end with a line feed, which ends each
 * loop. `checkRow` accepts every row that this function accepts; a test compares the two. `end` is the offset after the
 * last accepted row.
 */
export function takeFastRows(
  bytes: Uint8Array,
  start: number,
  room: Capacity,
  firstLine: number,
  found: {
    readonly repeats: RowRepeats;
    readonly attachedDigits: CountedLines;
    readonly overview: Overview | undefined;
  },
): { rows: number; end: number } {
  const { repeats, attachedDigits, overview } = found;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const merchants = new LastMerchant();
  const row: FastRow = {
    token: { start: 0, end: 0, isUuid: false },
    merchant: { start: 0, end: 0 },
    month: -1,
    hasAttachedDigits: false,
  };
  let at = start;
  let rows = 0;
  while (at < bytes.length && rows < room.rows) {
    const end = readRow(bytes, view, at, row);
    if (end === ODD || end > room.end) break;
    if (overview && !(row.token.isUuid && overview.takePlain(row.month, merchants.read(bytes, row.merchant)))) break;
    repeats.add(view, row.token, row.merchant, firstLine + rows);
    if (row.hasAttachedDigits) attachedDigits.add(firstLine + rows);
    rows += 1;
    at = end;
  }
  return { end: at, rows };
}

/** A row as the fast path reads it. One object is reused for all rows. */
interface FastRow {
  /** The place of the token, without quotes. */
  readonly token: { start: number; end: number; isUuid: boolean };
  /** The place of the merchant, without quotes. */
  readonly merchant: { start: number; end: number };
  /** The month of the expiration, counted from January 2000; below 0 without one. */
  month: number;
  /** Whether a cell has digits that begin or end with a card number. */
  hasAttachedDigits: boolean;
}

/** Reads merchants. Most rows have no merchant, or the one that was read last and is not read again. */
class LastMerchant {
  #text = '';

  read(bytes: Uint8Array, { start, end }: { readonly start: number; readonly end: number }): string {
    if (start === end) return '';
    const text = this.#text;
    let at = 0;
    while (at < text.length && bytes[start + at] === text.charCodeAt(at)) at += 1;
    if (at === end - start && at === text.length) return text;
    this.#text = String.fromCharCode(...bytes.subarray(start, end));
    return this.#text;
  }
}

/** Returned in place of an offset where the fast path must stop. */
const ODD = -1;

/** Reads the row at `start` into `row`. Returns the offset after its line end. */
function readRow(bytes: Uint8Array, view: DataView, start: number, row: FastRow): number {
  row.hasAttachedDigits = false;
  const { token, merchant } = row;
  token.start = contentStart(bytes, start);
  token.isUuid = isUuidAt(bytes, view, token.start);
  // A UUID is never a card number.
  token.end = token.isUuid ? token.start + UUID_LENGTH : textEnd(bytes, start, row);
  const year = nextCell(bytes, start, token.end);
  if (year === ODD || token.end === token.start || isRehearsed(bytes, token.start)) return ODD;
  const month = nextCell(bytes, year, yearEnd(bytes, contentStart(bytes, year)));
  if (month === ODD) return ODD;
  const last = nextCell(bytes, month, monthEnd(bytes, contentStart(bytes, month)));
  if (last === ODD) return ODD;
  const hasYear = isDigit(bytes[contentStart(bytes, year)]);
  // Half an expiration needs a closer look.
  if (hasYear !== isDigit(bytes[contentStart(bytes, month)])) return ODD;
  row.month = hasYear ? monthAt(bytes, contentStart(bytes, year), contentStart(bytes, month)) : -1;
  merchant.start = contentStart(bytes, last);
  merchant.end = textEnd(bytes, last, row);
  const end = cellEnd(bytes, last, merchant.end);
  const lineFeed = bytes[end] === CR ? end + 1 : end;
  return bytes[lineFeed] === LF && end - start <= MAX_LINE_LENGTH ? lineFeed + 1 : ODD;
}

/** Returns the offset of a cell's content: after its quote, if it has one. */
function contentStart(bytes: Uint8Array, start: number): number {
  return bytes[start] === QUOTE ? start + 1 : start;
}

/** Returns the offset after a cell, given the end of its content. */
function cellEnd(bytes: Uint8Array, start: number, contentEnd: number): number {
  if (bytes[start] !== QUOTE) return contentEnd;
  return bytes[contentEnd] === QUOTE ? contentEnd + 1 : ODD;
}

/** Returns the offset of the cell after the comma that follows a cell, given the end of its content. */
function nextCell(bytes: Uint8Array, start: number, contentEnd: number): number {
  const end = cellEnd(bytes, start, contentEnd);
  return bytes[end] === COMMA ? end + 1 : ODD;
}

const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const ZERO = 48;

// The kinds of bytes within a cell. Quotes, control characters and non-ASCII bytes end the fast path.
const END = 0;
const LETTER = 1;
const DIGIT_OR_SIGN = 2;
const bareKinds = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (/[A-Za-z]/.test(character)) return LETTER;
  return /[ -~]/.test(character) && !/[",]/.test(character) ? DIGIT_OR_SIGN : END;
});
const quotedKinds = bareKinds.with(COMMA, DIGIT_OR_SIGN);

/** Returns the end of a cell's text; `ODD` for text that starts or ends with a space, or may be a card number. */
function textEnd(bytes: Uint8Array, cell: number, row: FastRow): number {
  const kinds = bytes[cell] === QUOTE ? quotedKinds : bareKinds;
  const start = contentStart(bytes, cell);
  let end = start;
  while (kinds[bytes[end] ?? 0] !== END) end += 1;
  if (end > start && (bytes[start] === SPACE || bytes[end - 1] === SPACE)) return ODD;
  if (!mayContainCardNumber(bytes, start, end)) return end;
  const content = inspectCell(String.fromCharCode(...bytes.subarray(start, end)));
  if (content === 'attached_digits') row.hasAttachedDigits = true;
  return content === 'card_number' ? ODD : end;
}

const MIN_CARD_DIGITS = 13;

/**
 * Returns false if each 13 bytes contain a letter, as in most ids, because no card number contains one. The last letter of
 * 13 bytes rules out all bytes up to it, so that most bytes need not be read.
 */
function mayContainCardNumber(bytes: Uint8Array, start: number, end: number): boolean {
  let first = start;
  while (first + MIN_CARD_DIGITS <= end) {
    const letter = lastLetter(bytes, first, first + MIN_CARD_DIGITS);
    if (letter === undefined) return true;
    first = letter + 1;
  }
  return false;
}

function lastLetter(bytes: Uint8Array, start: number, end: number): number | undefined {
  for (let at = end - 1; at >= start; at -= 1) if (bareKinds[bytes[at] ?? 0] === LETTER) return at;
  return undefined;
}

const rehearsal = Buffer.from(REHEARSAL_PREFIX);

function isRehearsed(bytes: Uint8Array, start: number): boolean {
  return bytes[start] === rehearsal[0] && rehearsal.every((byte, at) => bytes[start + at] === byte);
}

const DASH = 45;
const UUID_LENGTH = 36;

/** Tells whether the text at `start` is a UUID, as most tokens are. */
function isUuidAt(bytes: Uint8Array, view: DataView, start: number): boolean {
  const end = start + UUID_LENGTH;
  return (
    (bytes[end] === COMMA || bytes[end] === QUOTE) &&
    bytes[start + 8] === DASH &&
    bytes[start + 13] === DASH &&
    bytes[start + 18] === DASH &&
    bytes[start + 23] === DASH &&
    areHex(view, start, start + 8) &&
    areHex(view, start + 9, start + 13) &&
    areHex(view, start + 14, start + 18) &&
    areHex(view, start + 19, start + 23) &&
    areHex(view, start + 24, end)
  );
}

/** Tells whether all characters are hexadecimal digits. Checks two bytes at a time. */
function areHex(view: DataView, start: number, end: number): boolean {
  for (let at = start; at < end; at += 2) if (isHexPair[view.getUint16(at, true)] !== 1) return false;
  return true;
}

/** 1 for two bytes, as one number, that are both hexadecimal digits. */
const isHexPair = new Uint8Array(0x1_0000);
const hexDigits = Array.from('0123456789abcdefABCDEF', (digit) => digit.charCodeAt(0));
for (const first of hexDigits) {
  for (const second of hexDigits) isHexPair[first | (second << 8)] = 1;
}

/** Returns the offset after two digits, or `start` for an empty or invalid cell. The next byte distinguishes the two. */
function yearEnd(bytes: Uint8Array, start: number): number {
  return isDigit(bytes[start]) && isDigit(bytes[start + 1]) ? start + 2 : start;
}

/** Works like `yearEnd`, for two digits from 01 to 12. */
function monthEnd(bytes: Uint8Array, start: number): number {
  if (yearEnd(bytes, start) === start) return start;
  const month = numberAt(bytes, start);
  return month >= 1 && month <= 12 ? start + 2 : start;
}

/** Returns the month in two cells of two digits, counted from January 2000. */
function monthAt(bytes: Uint8Array, year: number, month: number): number {
  return numberAt(bytes, year) * 12 + numberAt(bytes, month) - 1;
}

function numberAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) - ZERO) * 10 + (bytes[at + 1] ?? 0) - ZERO;
}

function isDigit(byte = 0): boolean {
  return byte >= ZERO && byte <= ZERO + 9;
}
