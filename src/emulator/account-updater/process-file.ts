import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { REQUEST_COLUMNS, RESULT_COLUMNS, type ResultCode } from '../../schema/account-updater-files.ts';
import type { EventOf } from '../state/events.ts';
import type { Card } from '../vault/cards.ts';
import { type CardUpdate, yieldsToken } from '../seed/test-cards.ts';

/** The vault with the cards behind the tokens of a request file. */
export interface Vault {
  /** Returns the card behind a token; undefined for an unknown token. */
  find(token: string): VaultCard | undefined;
  /** Returns the new token for the card behind a token. `row` is the row of the request, counted from 0. */
  renew(token: string, row: number): string;
  /** Whether the tenant's configuration accepts a merchant id, which may be empty. */
  takesMerchant(id: string): boolean;
}

/** The facts of a result file for the journal, or the errors that prevented a result. */
type ProcessedFile = Omit<EventOf<'result'>, 'type' | 'at' | 'job' | 'upload'>;

/** How many known tokens of a file are recorded. */
const MAX_USED_TOKENS = 1000;

/** Writes the result file of a request file, row by row. `resultPath` must not exist. */
export async function processRequestFile(
  requestPath: string,
  resultPath: string,
  vault: Vault,
  signal?: AbortSignal,
): Promise<ProcessedFile> {
  const file = await open(resultPath, 'wx', 0o600);
  const md5 = createHash('md5');
  let bytes = 0;
  let newTokens = 0;
  const used = new Set<string>();
  const watched: Vault = {
    takesMerchant: (id) => vault.takesMerchant(id),
    find(token) {
      const card = vault.find(token);
      if (card !== undefined && used.size < MAX_USED_TOKENS) used.add(token);
      return card;
    },
    renew(token, row) {
      newTokens += 1;
      return vault.renew(token, row);
    },
  };
  const write = async (lines: readonly string[]): Promise<void> => {
    const chunk = Buffer.from(lines.map((line) => `${line}\n`).join(''));
    md5.update(chunk);
    bytes += chunk.length;
    await file.writeFile(chunk);
  };
  try {
    const { rows, errors } = await processRows(linesOf(requestPath, signal), watched, write);
    return { rows, bytes, md5: md5.digest('hex'), newTokens, used: [...used], errors };
  } finally {
    await file.close();
  }
}

async function processRows(
  batches: AsyncIterable<readonly string[]>,
  vault: Vault,
  write: (lines: readonly string[]) => Promise<void>,
): Promise<{ rows: number; errors: string[] }> {
  let line = 0;
  try {
    await write([RESULT_COLUMNS.join(',')]);
    for await (const batch of batches) {
      const results: string[] = [];
      for (const text of batch) {
        line += 1;
        const result = line === 1 ? checkHeader(text) : resultLine(text, line, vault);
        if (result !== undefined) results.push(result);
      }
      await write(results);
    }
  } catch (error) {
    if (error instanceof FileProblem) return { rows: line, errors: [error.message] };
    if (error instanceof TypeError) return { rows: line, errors: ['The file is not encoded in UTF-8.'] };
    throw error;
  }
  return { rows: line - 1, errors: line < 2 ? ['The file contains no rows.'] : [] };
}

class FileProblem extends Error {}

function checkHeader(text: string): undefined {
  const expected = REQUEST_COLUMNS.join(',');
  if (text !== expected) throw new FileProblem(`The first line must be the header ${expected}.`);
}

function resultLine(text: string, line: number, vault: Vault): string | undefined {
  const row = readRow(text, line);
  const outcome = rowOutcomeOf(row, vault.find(row.token), vault.takesMerchant(row.merchant));
  if (outcome === undefined) return undefined;
  // The header is line 1.
  const token = outcome.newToken ? vault.renew(row.token, line - 2) : '';
  const cells = [row.token, row.year, row.month, token, outcome.newYear, outcome.newMonth, outcome.code];
  return cells.map(cellText).join(',');
}

function readRow(text: string, line: number): RequestRow {
  const cells = cellsOf(text);
  if (cells === undefined) throw new FileProblem(`Line ${line}: a quoted value does not end.`);
  const expected = REQUEST_COLUMNS.length;
  if (cells.length !== expected)
    throw new FileProblem(`Line ${line}: expected ${expected} columns, found ${cells.length}.`);
  const [token = '', year = '', month = '', merchant = ''] = cells;
  if (token === '') throw new FileProblem(`Line ${line}: the token is missing.`);
  return { token, year, month, merchant };
}

/** Yields batches of lines of a UTF-8 file, without their line ends. Throws a TypeError on other encodings. */
async function* linesOf(path: string, signal?: AbortSignal): AsyncGenerator<string[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let rest = '';
  const stream: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: 1 << 18, signal });
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield lines.map(withoutReturn);
  }
  rest += decoder.decode();
  if (rest !== '') yield [withoutReturn(rest)];
}

/** Splits a line into cells; undefined for a quote that stays open or is in the middle of a cell. */
export function cellsOf(line: string): string[] | undefined {
  if (!line.includes('"')) return line.split(',');
  const cells: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;
  for (;;) {
    const match = cell.exec(line);
    if (match === null) return undefined;
    cells.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match[3] === '') return cells;
  }
}

/** Writes a cell, quoted where CSV requires it. */
export function cellText(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

/** A row of a request file; an empty cell is an empty string. */
export interface RequestRow {
  readonly token: string;
  readonly year: string;
  readonly month: string;
  readonly merchant: string;
}

export type VaultCard = Pick<Card, 'month' | 'year' | 'refreshed'> & { readonly update?: CardUpdate | undefined };

export interface RowOutcome {
  readonly code: ResultCode;
  readonly newToken: boolean;
  readonly newYear: string;
  readonly newMonth: string;
}

/** Returns the outcome of a row; undefined for a row that the result file leaves out. */
export function rowOutcomeOf(
  row: RequestRow,
  card: VaultCard | undefined,
  isConfigured = true,
): RowOutcome | undefined {
  if (card === undefined) return plain('ERR_INVALID_TOKEN');
  if (!isConfigured) return plain('ERR_INVALID_CONFIG');
  if (!hasExpiration(row, card)) return plain('ERR_INVALID_EXP_DATE');
  const { code, newYear = '', newMonth = '' } = card.update ?? {};
  if (card.refreshed || code === undefined) return undefined;
  if (!yieldsToken(card.update)) return plain(code);
  return { code, newToken: true, newYear: newYear.slice(-2), newMonth };
}

function plain(code: ResultCode): RowOutcome {
  return { code, newToken: false, newYear: '', newMonth: '' };
}

// A year or month in the row overrides the card's own.
function hasExpiration(row: RequestRow, card: VaultCard): boolean {
  const year = row.year === '' ? card.year?.slice(-2) : row.year;
  const month = row.month === '' ? card.month : row.month;
  return /^\d\d$/.test(year ?? '') && /^(0[1-9]|1[0-2])$/.test(month ?? '');
}
