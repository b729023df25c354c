import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { REQUEST_COLUMNS, RESULT_COLUMNS } from '../../schema/account-updater-files.ts';
import { cellsOf, cellText, linesOf } from './csv.ts';
import { outcomeOf, type Outcome, type RequestRow, type VaultCard } from './outcome.ts';

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
    const { rows, errors } = await processRows(linesOf(requestPath, signal), vault, write);
    return { rows, bytes, md5: md5.digest('hex'), errors };
  } finally {
    await file.close();
  }
}

const LINES_A_WRITE = 2000;

async function processRows(
  lines: AsyncIterable<string>,
  vault: Vault,
  write: (lines: readonly string[]) => Promise<void>,
): Promise<{ rows: number; errors: string[] }> {
  let waiting: string[] = [RESULT_COLUMNS.join(',')];
  let line = 0;
  try {
    for await (const text of lines) {
      line += 1;
      const cells = cellsOf(text);
      const problem = line === 1 ? headerProblem(text) : rowProblem(cells, line);
      if (problem !== undefined || cells === undefined)
        return { rows: line, errors: [problem ?? 'unreadable'] };
      const answer = line === 1 ? undefined : resultLine(rowOf(cells), line - 2, vault);
      if (answer !== undefined) waiting.push(answer);
      if (waiting.length >= LINES_A_WRITE) {
        await write(waiting);
        waiting = [];
      }
    }
  } catch (error) {
    if (error instanceof TypeError) return { rows: line, errors: ['The file is not encoded in UTF-8.'] };
    throw error;
  }
  await write(waiting);
  return { rows: line - 1, errors: line < 2 ? ['The file holds no rows.'] : [] };
}

function headerProblem(text: string): string | undefined {
  const expected = REQUEST_COLUMNS.join(',');
  return text === expected ? undefined : `The first line must be the header ${expected}.`;
}

function rowProblem(cells: readonly string[] | undefined, line: number): string | undefined {
  if (cells === undefined) return `Line ${line}: a quoted value does not end.`;
  if (cells.length !== REQUEST_COLUMNS.length)
    return `Line ${line}: expected ${REQUEST_COLUMNS.length} columns, found ${cells.length}.`;
  return cells[0] === '' ? `Line ${line}: the token is missing.` : undefined;
}

function rowOf([token = '', year = '', month = '', merchant = '']: readonly string[]): RequestRow {
  return { token, year, month, merchant };
}

function resultLine(row: RequestRow, index: number, vault: Vault): string | undefined {
  const outcome = outcomeOf(row, vault.find(row.token));
  return outcome && resultCells(row, index, outcome, vault).map(cellText).join(',');
}

function resultCells(row: RequestRow, index: number, outcome: Outcome, vault: Vault): string[] {
  const token = outcome.newToken ? vault.renew(row.token, index) : '';
  return [row.token, row.year, row.month, token, outcome.newYear, outcome.newMonth, outcome.code];
}
