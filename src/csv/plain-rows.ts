import { containsCardNumber } from '../card-number.ts';
import { LONGEST_LINE } from './request-file.ts';
import type { Tokens } from './tokens.ts';

/** How far the quick way came. */
export interface PlainRows {
  /** Offset behind the last row taken. */
  readonly end: number;
  readonly rows: number;
}

/** Where the quick way has to stop. */
export interface Room {
  readonly rows: number;
  /** Offset that no row may end behind. */
  readonly end: number;
}

/**
 * The quick way over rows that are surely right: ASCII, unquoted, four columns, no card number. Takes rows from
 * `start` until one is anything else, or `room` is used. `bytes` must end with a line feed: each loop ends there.
 * All that it takes, `checkRow` finds nothing in; a test holds them together.
 */
export function takePlainRows(
  bytes: Uint8Array,
  start: number,
  room: Room,
  firstLine: number,
  tokens: Tokens,
): PlainRows {
  let row = start;
  let rows = 0;
  while (row < bytes.length && rows < room.rows) {
    const tokenEnd = plainTokenEnd(bytes, row);
    if (bytes[tokenEnd] !== COMMA || tokenEnd === row) break;
    const yearEnd = plainYearEnd(bytes, tokenEnd + 1);
    if (bytes[yearEnd] !== COMMA) break;
    const monthEnd = plainMonthEnd(bytes, yearEnd + 1);
    if (bytes[monthEnd] !== COMMA) break;
    const merchantEnd = plainCellEnd(bytes, monthEnd + 1);
    const next = bytes[merchantEnd] === CR ? merchantEnd + 1 : merchantEnd;
    if (bytes[next] !== LF || merchantEnd - row > LONGEST_LINE || next >= room.end) break;
    tokens.add(bytes, row, tokenEnd, firstLine + rows);
    rows += 1;
    row = next + 1;
  }
  return { end: row, rows };
}

const LF = 10;
const CR = 13;
const SPACE = 32;
const COMMA = 44;
const ZERO = 48;
const ODD = -1; // as an offset: never a comma, never a line end

// What a byte is within a cell. Quotes, control characters and all that is not ASCII end the quick way.
const END = 0;
const LETTER = 1;
const DIGIT = 2;
const SIGN = 3;
const kinds = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (/[A-Za-z]/.test(character)) return LETTER;
  if (/[0-9]/.test(character)) return DIGIT;
  return /[ -~]/.test(character) && !/[",]/.test(character) ? SIGN : END;
});
const FEWEST_CARD_DIGITS = 13;

/** The offset behind the cell, or `ODD`: it starts or ends with a space, or may be a card number. */
function plainCellEnd(bytes: Uint8Array, start: number): number {
  let digits = 0;
  let most = 0;
  let at = start;
  for (let kind = kindAt(bytes, at); kind !== END; kind = kindAt(bytes, at)) {
    if (kind === LETTER) digits = 0;
    else if (kind === DIGIT) digits += 1;
    if (digits > most) most = digits;
    at += 1;
  }
  if (at > start && (bytes[start] === SPACE || bytes[at - 1] === SPACE)) return ODD;
  return most >= FEWEST_CARD_DIGITS && holdsCardNumber(bytes, start, at) ? ODD : at;
}

function kindAt(bytes: Uint8Array, at: number): number {
  return kinds[bytes[at] ?? 0] ?? END;
}

function holdsCardNumber(bytes: Uint8Array, start: number, end: number): boolean {
  return containsCardNumber(String.fromCharCode(...bytes.subarray(start, end)), 'cell');
}

// Hexadecimal digits are 0, all else 1: a UUID has a sum of 0. It is the common token, and never a card number.
const notHex = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[0-9A-Fa-f]/.test(String.fromCharCode(byte)) ? 0 : 1,
);
const DASH = 45;
const UUID_LENGTH = 36;

function plainTokenEnd(bytes: Uint8Array, start: number): number {
  const end = start + UUID_LENGTH;
  const dashed =
    bytes[end] === COMMA &&
    bytes[start + 8] === DASH &&
    bytes[start + 13] === DASH &&
    bytes[start + 18] === DASH &&
    bytes[start + 23] === DASH;
  const uuid =
    dashed &&
    areHex(bytes, start, start + 8) &&
    areHex(bytes, start + 9, start + 13) &&
    areHex(bytes, start + 14, start + 18) &&
    areHex(bytes, start + 19, start + 23) &&
    areHex(bytes, start + 24, end);
  return uuid ? end : plainCellEnd(bytes, start);
}

function areHex(bytes: Uint8Array, start: number, end: number): boolean {
  let others = 0;
  for (let at = start; at < end; at += 1) others |= notHex[bytes[at] ?? 0] ?? 1;
  return others === 0;
}

/** The offset behind an empty cell or two digits; the cell is wrong where no comma stands there. */
function plainYearEnd(bytes: Uint8Array, start: number): number {
  return bytes[start] === COMMA || digitAt(bytes, start) > 9 || digitAt(bytes, start + 1) > 9
    ? start
    : start + 2;
}

function plainMonthEnd(bytes: Uint8Array, start: number): number {
  if (bytes[start] === COMMA) return start;
  const month = digitAt(bytes, start) * 10 + digitAt(bytes, start + 1);
  const plain = digitAt(bytes, start + 1) <= 9 && month >= 1 && month <= 12;
  return plain ? start + 2 : start;
}

/** Above 9 where no digit stands. */
function digitAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) - ZERO) >>> 0;
}
