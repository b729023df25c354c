import { isAscii } from 'node:buffer';
import { REQUEST_COLUMNS } from '../schema/account-updater-files.ts';
import { containsCardNumber } from '../security/card-number.ts';
import { splitCells } from './line-blocks.ts';
import { type Finding, LONGEST_LINE, type RequestColumn } from './request-file.ts';

/** What one line holds: its token when all is right, else what is wrong. */
export interface CheckedRow {
  readonly findings: readonly Finding[];
  readonly token: string;
}

/** Checks one line of a request file, given without its line end: all rules, spelled out. */
export function checkRow(line: Uint8Array): CheckedRow {
  if (line.length > LONGEST_LINE) return wrong(LINE_TOO_LONG);
  const text = decode(line);
  if (text === undefined) return wrong(notUtf8(line));
  if (/^ *$/.test(text)) return wrong({ rule: 'blank_line', problem: 'the line is blank' });
  const split = splitCells(text);
  if (split.fault !== undefined) return wrong(withoutCard(text, FAULTS[split.fault]));
  const { cells } = split;
  if (cells.some((cell) => containsCardNumber(cell, 'cell'))) return wrong(CARD_NUMBER);
  if (cells.length !== REQUEST_COLUMNS.length) return wrong(withoutCard(text, wrongCount(cells.length)));
  const findings = REQUEST_COLUMNS.flatMap((column, at) => checkCell(column, cells[at] ?? '') ?? []);
  return { findings, token: cells[0] ?? '' };
}

/** Checks a line for card numbers only: for a file whose columns are not known. */
export function checkForCards(line: Uint8Array): CheckedRow {
  if (line.length > LONGEST_LINE) return wrong(LINE_TOO_LONG);
  const cells = looseCells(new TextDecoder().decode(line));
  return cells.some((cell) => containsCardNumber(cell, 'cell'))
    ? wrong(CARD_NUMBER)
    : { findings: [], token: '' };
}

/** A card number was found; where in the line is not told. */
export const CARD_NUMBER: Finding = {
  rule: 'card_number',
  problem: 'the line holds what looks like a card number; send tokens only',
};

/** The line is longer than any row can be. */
export const LINE_TOO_LONG: Finding = {
  rule: 'line_too_long',
  problem: `the line is longer than ${LONGEST_LINE} bytes; are the line ends missing?`,
};

const FAULTS: Readonly<Record<'open' | 'stray', Finding>> = {
  open: { rule: 'quoted_newline', problem: 'a quoted cell does not end on its line' },
  stray: {
    rule: 'quoting',
    problem: 'a quote stands inside a cell; quote the whole cell and write the quote twice',
  },
};

function wrong(finding: Finding): CheckedRow {
  return { findings: [finding], token: '' };
}

/** Where a line cannot be split into its cells, the whole and whatever may be a cell is looked at. */
function withoutCard(text: string, finding: Finding): Finding {
  return [text, ...looseCells(text)].some((cell) => containsCardNumber(cell, 'cell')) ? CARD_NUMBER : finding;
}

function looseCells(text: string): string[] {
  return text.split(/[,;\t|]/);
}

function wrongCount(count: number): Finding {
  return {
    rule: 'columns',
    problem: `the line has ${count === 1 ? '1 column' : `${count} columns`} instead of 4`,
  };
}

function notUtf8(line: Uint8Array): Finding {
  return withoutCard(new TextDecoder('latin1').decode(line), {
    rule: 'encoding',
    problem: describeBytes(line),
  });
}

// ASCII is by far the most common, and read much faster.
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(line: Uint8Array): string | undefined {
  if (isAscii(line)) return Buffer.from(line.buffer, line.byteOffset, line.length).toString('latin1');
  try {
    return strict.decode(line);
  } catch {
    return undefined;
  }
}

/** The first thing wrong with a cell. */
function checkCell(column: RequestColumn, cell: string): Finding | undefined {
  return (PLAIN.test(cell) ? undefined : checkText(column, cell)) ?? checkMeaning(column, cell);
}

const PLAIN = /^[!-~](?:[ -~]*[!-~])?$/; // most cells; all that checkText looks for is elsewhere

// most cells; all that checkText looks for is elsewhere

function checkText(column: RequestColumn, cell: string): Finding | undefined {
  if (/\p{Cc}/u.test(cell)) return { column, rule: 'control_character', problem: controlIn(cell) };
  if (/[\p{Cf}\p{Zl}\p{Zp}]/u.test(cell))
    return { column, rule: 'invisible_character', problem: 'holds a character that cannot be seen' };
  if (column === 'token' && /^\s*$/.test(cell)) return { column, rule: 'token_empty', problem: 'is empty' };
  if (/^\s|\s$/.test(cell))
    return { column, rule: 'surrounding_space', problem: 'starts or ends with a space' };
  return undefined;
}

function checkMeaning(column: RequestColumn, cell: string): Finding | undefined {
  if (column === 'expiration_year' && !/^(?:[0-9]{2})?$/.test(cell))
    return { column, rule: 'year', problem: `${displayText(cell)} is not a year of 2 digits` };
  if (column === 'expiration_month' && !/^(?:0[1-9]|1[0-2])?$/.test(cell))
    return { column, rule: 'month', problem: `${displayText(cell)} is not a month from 01 to 12` };
  return undefined;
}

function controlIn(cell: string): string {
  if (cell.includes('\0')) return 'holds a NUL character';
  if (cell.includes('\r')) return 'holds a carriage return that ends no line';
  return cell.includes('\t') ? 'holds a tab' : 'holds a control character';
}

// Four digits could be a piece of a card number that was cut into cells, unless they are a year.
function displayText(cell: string): string {
  if (/^(?:[0-9A-Za-z]{1,2}|20[0-9]{2})$/.test(cell)) return `"${cell}"`;
  return `a value of ${cell.length === 1 ? '1 character' : `${cell.length} characters`}`;
}

/** What a file is that is no UTF-8 text, by its first bytes; undefined where nothing speaks against text. */
export function foreignFormat(first: Uint8Array): string | undefined {
  const signature = SIGNATURES.find(([bytes]) => bytes.every((byte, at) => first[at] === byte));
  if (signature !== undefined) return signature[1];
  const nulls = [0, 0];
  for (const [at, byte] of first.entries()) if (byte === 0) nulls[at % 2] = (nulls[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = nulls;
  if (Math.max(even, odd) * 4 < first.length || first.length < 4) return undefined;
  return even > odd ? UTF_16_BE : UTF_16_LE;
}

/** Whether the file starts with a UTF-8 byte order mark. */
export function hasByteOrderMark(first: Uint8Array): boolean {
  return first[0] === 0xef && first[1] === 0xbb && first[2] === 0xbf;
}

/** Names the first byte of a line that is no UTF-8, and what the line is then likely to be. */
export function describeBytes(line: Uint8Array): string {
  const byte = line[invalidAt(line)] ?? 0;
  const name = `0x${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  const likely = byte >= 0xa0 ? 'Latin-1' : 'Windows-1252';
  return `is not UTF-8 (byte ${name}; ${likely}?): save the file as UTF-8`;
}

const UTF_16_LE = 'UTF-16 (little-endian) text';
const UTF_16_BE = 'UTF-16 (big-endian) text';

const SIGNATURES: readonly (readonly [bytes: readonly number[], name: string])[] = [
  [[0xff, 0xfe, 0, 0], 'UTF-32 text'],
  [[0, 0, 0xfe, 0xff], 'UTF-32 text'],
  [[0xff, 0xfe], UTF_16_LE],
  [[0xfe, 0xff], UTF_16_BE],
  [[0x1f, 0x8b], 'gzip data'],
  [[0x50, 0x4b, 3, 4], 'a zip file or an Excel workbook'],
  [[0xd0, 0xcf, 0x11, 0xe0], 'an old Excel workbook'],
];

/** The offset of the first byte that belongs to no whole, shortest UTF-8 sequence. */
function invalidAt(line: Uint8Array): number {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (let at = 0; at < line.length;) {
    const length = sequenceLength(line[at] ?? 0);
    try {
      decoder.decode(line.subarray(at, at + length));
    } catch {
      return at;
    }
    at += length;
  }
  return 0;
}

function sequenceLength(lead: number): number {
  if (lead < 0xc0) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}
