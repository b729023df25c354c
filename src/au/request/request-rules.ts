// The rules for the header and each row of a request file.

import { isAscii } from 'node:buffer';
import { containsCardNumber, inspectCell } from '../../base/security/card-number.ts';
import { countText } from '../../cli/output/number.ts';
import { REHEARSAL_PREFIX, REQUEST_COLUMNS } from '../../schema/account-updater-files.ts';
import { CSV_FAULTS, splitCells } from '../csv-rows.ts';
import { KIND_NAMES, kindOf } from './file-kind.ts';
import { type Finding, MAX_LINE_LENGTH, REQUEST_HEADER, type RequestColumn, type Rule } from './request-file.ts';
import { foreignFormat, describeBytes } from './text-encoding.ts';

export interface CheckedHeader {
  readonly findings: readonly Finding[];
  /**
   * How the lines below the header can be checked: as rows in the known columns, as cells of unknown meaning, or not at
   * all.
   */
  readonly below: 'rows' | 'cells' | 'nothing';
}

/** Checks the first line of a request file, without its line end. */
export function checkHeader(whole: Uint8Array): CheckedHeader {
  const line = whole.subarray(0, MAX_LINE_LENGTH);
  const format = foreignFormat(line);
  if (format !== undefined)
    return header('nothing', finding('encoding', `the file is ${format}: save it as CSV in UTF-8`));
  const isMarked = line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf;
  const { findings, below } = checkNames(isMarked ? line.subarray(3) : line, line);
  const isLong = whole.length > MAX_LINE_LENGTH && below !== 'nothing';
  return header(below, ...(isMarked ? [BYTE_ORDER_MARK] : []), ...findings, ...(isLong ? [LINE_TOO_LONG] : []));
}

const BYTE_ORDER_MARK = finding(
  'byte_order_mark',
  'the file starts with a byte order mark (EF BB BF): save it as UTF-8 without one',
);

function header(below: CheckedHeader['below'], ...findings: readonly Finding[]): CheckedHeader {
  return { findings, below };
}

function finding(rule: Rule, problem: string, column?: RequestColumn): Finding {
  return column === undefined ? { rule, problem } : { column, rule, problem };
}

function checkNames(names: Uint8Array, line: Uint8Array): CheckedHeader {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(names);
  if (text === REQUEST_HEADER) return header('rows');
  if (checkForCards(line).findings.length > 0) return header('cells', CARD_NUMBER);
  if (text.includes('\uFFFD')) return header('cells', finding('encoding', `the header ${describeBytes(line)}`));
  if (text.includes('\r')) return header('nothing', BARE_RETURNS);
  const kind = kindOf(text);
  if (kind !== undefined && kind !== 'request')
    return header('cells', finding('wrong_file', `the file is ${KIND_NAMES[kind]}, not a request file`));
  // The rows below can be checked if the header only has quotes, spaces or capital letters, or is missing.
  const similar = text.replaceAll(/[" \t\u00a0]/g, '').toLowerCase();
  const cells = similar.split(',');
  const isMissing = cells.length === REQUEST_COLUMNS.length && !REQUEST_COLUMNS.some((name) => cells.includes(name));
  const below = similar === REQUEST_HEADER || isMissing ? 'rows' : 'cells';
  return header(below, finding('header', `the first line is not the header ${REQUEST_HEADER}`));
}

const BARE_RETURNS = finding('control_character', 'lines end with carriage returns alone: end them with line feeds');

/** The result of checking one line: the token and merchant of a valid row, or the problems. */
export interface CheckedRow {
  readonly findings: readonly Finding[];
  readonly token: string;
  readonly year: string;
  readonly month: string;
  readonly merchant: string;
  /** Whether a longer run of digits begins or ends with a card number. */
  readonly hasAttachedDigits: boolean;
}

/** Checks one line of a request file, without its line end, against every rule. */
export function checkRow(line: Uint8Array): CheckedRow {
  if (line.length > MAX_LINE_LENGTH) return wrong(LINE_TOO_LONG);
  const text = decode(line);
  if (text === undefined)
    return wrong(unlessCard(new TextDecoder('latin1').decode(line), 'encoding', describeBytes(line)));
  if (/^ *$/.test(text)) return wrong(finding('blank_line', 'the line is blank'));
  const split = splitCells(text);
  if (split.fault !== undefined) {
    const [rule, problem] = FAULTS[split.fault];
    return wrong(unlessCard(text, rule, problem));
  }
  const { cells } = split;
  const contents = new Set(cells.map((cell) => inspectCell(cell)));
  if (contents.has('card_number')) return wrong(CARD_NUMBER);
  if (cells.length !== REQUEST_COLUMNS.length) {
    const count = countText(cells.length, 'column');
    return wrong(unlessCard(text, 'columns', `the line has ${count} instead of 4`));
  }
  const findings = REQUEST_COLUMNS.flatMap((column, at) => checkCell(column, cells[at] ?? '') ?? []);
  return {
    findings,
    token: cells[0] ?? '',
    year: cells[1] ?? '',
    month: cells[2] ?? '',
    merchant: cells[3] ?? '',
    hasAttachedDigits: contents.has('attached_digits'),
  };
}

/** Checks a line of a file with unknown columns, for card numbers only. */
export function checkForCards(line: Uint8Array): CheckedRow {
  if (line.length > MAX_LINE_LENGTH) return wrong(LINE_TOO_LONG);
  const hasCard = looseCells(new TextDecoder().decode(line)).some((cell) => containsCardNumber(cell, 'cell'));
  return hasCard ? wrong(CARD_NUMBER) : { findings: [], ...NO_CELLS };
}

/** The problem of a line with a card number. It does not say where in the line the number is. */
export const CARD_NUMBER = finding('card_number', 'the line contains what looks like a card number; send tokens only');

/** The problem of a line that is longer than any row can be. */
const LINE_TOO_LONG = finding(
  'line_too_long',
  `the line is longer than ${MAX_LINE_LENGTH} bytes; are the line ends missing?`,
);

const FAULTS = {
  open: ['quoted_newline', 'a quoted cell does not end on its line'],
  stray: ['quoting', CSV_FAULTS.stray],
} as const;

function wrong(finding: Finding): CheckedRow {
  return { findings: [finding], ...NO_CELLS };
}

const NO_CELLS = { token: '', year: '', month: '', merchant: '', hasAttachedDigits: false };

/**
 * Returns the problem of a line that cannot be split into cells. Reports a card number instead if the line or any part
 * between delimiters may be one.
 */
function unlessCard(text: string, rule: Rule, problem: string): Finding {
  const hasCard = [text, ...looseCells(text)].some((cell) => containsCardNumber(cell, 'cell'));
  return hasCard ? CARD_NUMBER : finding(rule, problem);
}

function looseCells(text: string): string[] {
  return text.split(/[,;\t|]/);
}

// Most lines are ASCII, which is decoded much faster without this decoder.
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(line: Uint8Array): string | undefined {
  if (isAscii(line)) return Buffer.from(line.buffer, line.byteOffset, line.length).toString('latin1');
  try {
    return strict.decode(line);
  } catch {
    return undefined;
  }
}

const PLAIN = /^[!-~](?:[ -~]*[!-~])?$/; // most cells; all that checkText looks for is elsewhere

/** Returns the first problem of a cell. */
function checkCell(column: RequestColumn, cell: string): Finding | undefined {
  const wrongText = PLAIN.test(cell) ? undefined : checkText(column, cell);
  if (wrongText !== undefined) return finding(...wrongText, column);
  if (column === 'token' && cell.startsWith(REHEARSAL_PREFIX))
    return finding('rehearsal_token', 'was invented by a rehearsal: no card has it', column);
  if (column === 'expiration_year' && !/^(?:[0-9]{2})?$/.test(cell))
    return finding('year', `${displayText(cell)} is not a year of 2 digits`, column);
  if (column === 'expiration_month' && !/^(?:0[1-9]|1[0-2])?$/.test(cell))
    return finding('month', `${displayText(cell)} is not a month from 01 to 12`, column);
  return undefined;
}

function checkText(column: RequestColumn, cell: string): [Rule, string] | undefined {
  if (/[^ -~\u00A0-\uFFFF]/.test(cell)) return ['control_character', controlIn(cell)];
  if (new RegExp(String.raw`[\p{Cf}\p{Zl}\p{Zp}]`, 'u').test(cell))
    return ['invisible_character', 'contains an invisible character'];
  if (column === 'token' && /^\s*$/.test(cell)) return ['token_empty', 'is empty'];
  return /^\s|\s$/.test(cell) ? ['surrounding_space', 'starts or ends with a space'] : undefined;
}

function controlIn(cell: string): string {
  if (cell.includes('\0')) return 'contains a NUL character';
  if (cell.includes('\r')) return 'contains a carriage return that ends no line';
  return cell.includes('\t') ? 'contains a tab' : 'contains a control character';
}

// Returns a cell as it may be shown. Four digits are hidden unless they are a year, because a card number may have been
// split into cells.
function displayText(cell: string): string {
  if (/^(?:[0-9A-Za-z]{1,2}|20[0-9]{2})$/.test(cell)) return `"${cell}"`;
  return `a value of ${countText(cell.length, 'character')}`;
}
