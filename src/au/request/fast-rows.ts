import { inspectCell } from '../../base/security/card-number.ts';
import { type CountedLines, CR, LF, LONGEST_LINE } from './request-file.ts';
import type { RepeatedTokens } from './token-table.ts';

/** Where the fast path must stop. */
export interface Capacity {
  readonly rows: number;
  /** Offset that no row may end behind. */
  readonly end: number;
}

/**
 * The fast path over rows that are surely right: ASCII, four columns, bare or plainly quoted, no card number. Takes
 * rows from `start` until one is anything else, or `room` is used. `bytes` must end with a line feed: each loop ends
 * there. All that it takes, `checkRow` finds nothing in; a test holds them together. `end` is behind the last row taken.
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

/** What the cells of one row contain; the same object for each row. */
interface FoundInRow {
  hasAttachedDigits: boolean;
}

/** 1 where a quoted cell starts, else 0. */
function quoteAt(bytes: Uint8Array, at: number): number {
  return bytes[at] === QUOTE ? 1 : 0;
}

/** The offset behind the cell that starts at `start`, given where its content ends; `ODD` where its quote is not closed. */
function closed(bytes: Uint8Array, start: number, end: number): number {
  if (bytes[start] !== QUOTE) return end;
  return bytes[end] === QUOTE ? end + 1 : ODD;
}

const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const ZERO = 48;
const ODD = -1; // as an offset: never a comma, never a line end

// What a byte is within a cell. Quotes, control characters and all that is not ASCII end the fast path.
// Bit 1 keeps a count of digits going, bit 0 adds to it: ids mix letters and digits, where branches guess badly.
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

/** The offset behind the cell, or `ODD`: it starts or ends with a space, or may be a card number. */
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

/** As `plainCellEnd`; a UUID, the common token and never a card number, is recognized by its shape. */
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

/** Whether there are hexadecimal digits only; checks two bytes at a time. */
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

/** The offset behind two digits, or `start`: the cell is empty or wrong, and what is there shows which. */
function plainYearEnd(bytes: Uint8Array, start: number): number {
  return digitAt(bytes, start) <= 9 && digitAt(bytes, start + 1) <= 9 ? start + 2 : start;
}

function plainMonthEnd(bytes: Uint8Array, start: number): number {
  const month = digitAt(bytes, start) * 10 + digitAt(bytes, start + 1);
  return digitAt(bytes, start + 1) <= 9 && month >= 1 && month <= 12 ? start + 2 : start;
}

/** Above 9 where there is no digit. */
function digitAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) - ZERO) >>> 0;
}
