import { inspectCell } from '../../base/security/card-number.ts';
import { type CountedLines, CR, LF, LONGEST_LINE } from './request-file.ts';
import type { RepeatedTokens } from './token-table.ts';

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
  { tokens, attachedDigits }: { readonly tokens: RepeatedTokens; readonly attachedDigits: CountedLines },
): { rows: number; end: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const found: FoundInRow = { hasAttachedDigits: false };
  let row = start;
  let rows = 0;
  while (row < bytes.length && rows < room.rows) {
    found.hasAttachedDigits = false;
    const token = row + quoteAt(bytes, row);
    const tokenEnd = plainTokenEnd(bytes, view, token, found);
    const year = closed(bytes, row, tokenEnd) + 1;
    if (bytes[year - 1] !== COMMA || tokenEnd === token) break;
    const month = closed(bytes, year, plainYearEnd(bytes, year + quoteAt(bytes, year))) + 1;
    if (bytes[month - 1] !== COMMA) break;
    const merchant = closed(bytes, month, plainMonthEnd(bytes, month + quoteAt(bytes, month))) + 1;
    if (bytes[merchant - 1] !== COMMA) break;
    const end = closed(bytes, merchant, plainCellEnd(bytes, merchant + quoteAt(bytes, merchant), found));
    const next = bytes[end] === CR ? end + 1 : end;
    if (bytes[next] !== LF || end - row > LONGEST_LINE || next >= room.end) break;
    tokens.add(view, token, tokenEnd, firstLine + rows);
    if (found.hasAttachedDigits) attachedDigits.add(firstLine + rows);
    rows += 1;
    row = next + 1;
  }
  return { end: row, rows };
}

/** The findings in the cells of one row. One object is reused for all rows. */
interface FoundInRow {
  hasAttachedDigits: boolean;
}

/** Returns 1 at the start of a quoted cell, otherwise 0. */
function quoteAt(bytes: Uint8Array, at: number): number {
  return bytes[at] === QUOTE ? 1 : 0;
}

/**
 * Returns the offset after the cell that starts at `start`, given the end of its content; `ODD` for an unclosed quote.
 */
function closed(bytes: Uint8Array, start: number, end: number): number {
  if (bytes[start] !== QUOTE) return end;
  return bytes[end] === QUOTE ? end + 1 : ODD;
}

const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const ZERO = 48;
const ODD = -1; // as an offset: never a comma, never a line end

// The kinds of bytes within a cell. Quotes, control characters and non-ASCII bytes end the fast path.
// Bit 1 continues a count of digits, and bit 0 increments it. Ids mix letters and digits, so branches would be
// mispredicted.
const END = 0;
const SIGN = 2;
const DIGIT = 3;
const LETTER = 4;
const bareKinds = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (/[A-Za-z]/.test(character)) return LETTER;
  if (/[0-9]/.test(character)) return DIGIT;
  return /[ -~]/.test(character) && !/[",]/.test(character) ? SIGN : END;
});
const quotedKinds = bareKinds.with(COMMA, SIGN);
const FEWEST_CARD_DIGITS = 13;

/**
 * Returns the offset after the cell. Returns `ODD` for a cell that starts or ends with a space or may be a card number.
 */
function plainCellEnd(bytes: Uint8Array, start: number, found: FoundInRow): number {
  const kinds = bytes[start - 1] === QUOTE ? quotedKinds : bareKinds;
  let digits = 0;
  let left = 0; // negative once there were enough digits without a letter between
  let at = start;
  for (let kind = kinds[bytes[at] ?? 0] ?? END; kind !== END; kind = kinds[bytes[at] ?? 0] ?? END) {
    digits = (digits + (kind & 1)) & -((kind >> 1) & 1);
    left |= FEWEST_CARD_DIGITS - 1 - digits;
    at += 1;
  }
  if (at > start && (bytes[start] === SPACE || bytes[at - 1] === SPACE)) return ODD;
  if (left >= 0) return at;
  const content = inspectCell(String.fromCharCode(...bytes.subarray(start, at)));
  if (content === 'attached_digits') found.hasAttachedDigits = true;
  return content === 'card_number' ? ODD : at;
}

const DASH = 45;
const UUID_LENGTH = 36;

/**
 * Works like `plainCellEnd`, but recognizes a UUID by its shape. Most tokens are UUIDs, which are never card numbers.
 */
function plainTokenEnd(bytes: Uint8Array, view: DataView, start: number, found: FoundInRow): number {
  const end = start + UUID_LENGTH;
  const uuid =
    (bytes[end] === COMMA || bytes[end] === QUOTE) &&
    bytes[start + 8] === DASH &&
    bytes[start + 13] === DASH &&
    bytes[start + 18] === DASH &&
    bytes[start + 23] === DASH &&
    areHex(view, start, start + 8) &&
    areHex(view, start + 9, start + 13) &&
    areHex(view, start + 14, start + 18) &&
    areHex(view, start + 19, start + 23) &&
    areHex(view, start + 24, end);
  return uuid ? end : plainCellEnd(bytes, start, found);
}

/** Tells whether all characters are hexadecimal digits. Checks two bytes at a time. */
function areHex(view: DataView, start: number, end: number): boolean {
  let others = 0;
  for (let at = start; at < end; at += 2) others |= notHexPair[view.getUint16(at, true)] ?? 1;
  return others === 0;
}

const hexDigits = Array.from('0123456789abcdefABCDEF', (digit) => digit.charCodeAt(0));
const notHexPair = new Uint8Array(0x1_0000).fill(1);
for (const first of hexDigits) {
  for (const second of hexDigits) notHexPair[first | (second << 8)] = 0;
}

/**
 * Returns the offset after two digits, or `start` for an empty or invalid cell. The next byte distinguishes the two.
 */
function plainYearEnd(bytes: Uint8Array, start: number): number {
  return digitAt(bytes, start) <= 9 && digitAt(bytes, start + 1) <= 9 ? start + 2 : start;
}

function plainMonthEnd(bytes: Uint8Array, start: number): number {
  const month = digitAt(bytes, start) * 10 + digitAt(bytes, start + 1);
  return digitAt(bytes, start + 1) <= 9 && month >= 1 && month <= 12 ? start + 2 : start;
}

/** Returns the digit at an offset, or a number above 9 if there is no digit. */
function digitAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) - ZERO) >>> 0;
}
