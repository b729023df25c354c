import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { REQUEST_COLUMNS, RESULT_COLUMNS } from '../../schema/account-updater-files.ts';
import { cellsOf, cellText, linesOf } from './csv.ts';
import { outcomeOf, type RequestRow, type VaultCard } from './outcome.ts';

/** What the rows of a request file are looked up in. */
export interface Vault {
  /** The card behind a token; undefined when there is none. */
  find(token: string): VaultCard | undefined;
  /** The token that a row (counted from 0) yields for this token's card. */
  renew(token: string, row: number): string;
}

/** A result file that was written, or why there is none. */
export interface ProcessedFile {
  /** Rows of the request file. */
  readonly rows: number;
  /** Bytes of the result file. */
  readonly bytes: number;
  /** MD5 of the result file, in hex. */
  readonly md5: string;
  /** New card tokens that the result names. */
  readonly newTokens: number;
  /** Card tokens that the file named and the vault holds, each once: the first thousand of them. */
  readonly used: readonly string[];
  /** Why the request file could not be processed; empty when it could. */
  readonly errors: readonly string[];
}

/** Writes the result of a request file, row by row. `resultPath` must not exist. */
export async function processRequestFile(
  requestPath: string,
  resultPath: string,
  vault: Vault,
  signal?: AbortSignal,
): Promise<ProcessedFile> {
  const file = await open(resultPath, 'wx', 0o600);
  const md5 = createHash('md5');
  let bytes = 0;
  const write = async (lines: readonly string[]): Promise<void> => {
    const chunk = Buffer.from(lines.map((line) => `${line}\n`).join(''));
    md5.update(chunk);
    bytes += chunk.length;
    await file.writeFile(chunk);
  };
  try {
    const watched = new WatchedVault(vault);
    const { rows, errors } = await processRows(linesOf(requestPath, signal), watched, write);
    const { newTokens, used } = watched;
    return { rows, bytes, md5: md5.digest('hex'), newTokens, used: [...used], errors };
  } finally {
    await file.close();
  }
}

const MOST_USED = 1000;

/** Notes what the usage report will count. */
class WatchedVault implements Vault {
  newTokens = 0;
  readonly used = new Set<string>();
  readonly #vault: Vault;

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  find(token: string): VaultCard | undefined {
    const card = this.#vault.find(token);
    if (card !== undefined && this.used.size < MOST_USED) this.used.add(token);
    return card;
  }

  renew(token: string, row: number): string {
    this.newTokens += 1;
    return this.#vault.renew(token, row);
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
  return { rows: line - 1, errors: line < 2 ? ['The file holds no rows.'] : [] };
}

/** Why a request file cannot be processed. */
class FileProblem extends Error {}

function checkHeader(text: string): undefined {
  const expected = REQUEST_COLUMNS.join(',');
  if (text !== expected) throw new FileProblem(`The first line must be the header ${expected}.`);
}

function resultLine(text: string, line: number, vault: Vault): string | undefined {
  const row = readRow(text, line);
  const outcome = outcomeOf(row, vault.find(row.token));
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
