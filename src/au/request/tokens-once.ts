import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { fileSource, type UploadSource } from '../../client/transfer/source.ts';
import type { RequestFileCheck } from './request-file.ts';
import { readRequest } from './request-lines.ts';
import { tokenKey } from './row-key.ts';
import { type DividedRows, RowsFile } from './rows-file.ts';
import { TokenTable } from './token-table.ts';

type Rows = Pick<UploadSource, 'open'>;

/** How many files are written at once, so that a token with many merchants opens no file for each. */
const FILES_AT_ONCE = 16;

/** Tells whether a token stands twice among rows, for several merchants. */
export async function repeatsToken(source: Rows, expected = 0): Promise<boolean> {
  const seen = new TokenTable({ words: 3, hasValues: false, expected });
  for await (const rows of readRequest(source.open()))
    for (const { token } of rows) if (seen.setIfAbsent(tokenKey(token), 1) !== 0) return true;
  return false;
}

/**
 * Checks that no token stands twice in a file for one job. `typed` is its name as typed.
 * @throws SvcError `refused_input`
 */
export async function requireTokensOnce(
  { name, check, source }: { readonly name: string; readonly check: RequestFileCheck; readonly source: Rows },
  typed: string,
): Promise<void> {
  if (!check.duplicates.hasSeveralMerchants || !(await repeatsToken(source, check.rows))) return;
  throw new SvcError('refused_input', `${name} has a token for several merchants, which one job does not take`, {
    hint: 'Results name no merchant, so that it would not be known which row has which result. Submit the file, which makes several jobs of it:',
    next: ['au', 'submit', typed],
    facts: { file: name },
  });
}

/**
 * Divides rows into files none of which has a token twice: the rows of its further merchants go into further files, and so
 * into other jobs. Results name no merchant, so that job and token together name a row.
 */
export async function withTokensOnce(context: Context, whole: DividedRows): Promise<readonly DividedRows[]> {
  const { path, check } = whole;
  if (!check.duplicates.hasSeveralMerchants) return [whole];
  const source = await fileSource(path, { sha256: check.sha256 });
  const most = await mostRowsOfToken(source, check.rows);
  if (most === 1) return [whole];
  const found: DividedRows[] = [];
  for (let first = 1; first <= most; first += FILES_AT_ONCE) {
    const files = Array.from({ length: Math.min(FILES_AT_ONCE, most + 1 - first) }, () => new RowsFile(context));
    const before = new TokenTable({ words: 3, expected: check.rows });
    for await (const rows of readRequest(source.open())) {
      for (const { token, line } of rows) files[addOne(before, tokenKey(token)) - first]?.add(line);
      for (const file of files) await file.flush();
    }
    for (const file of files) {
      const written = await file.finish();
      if (written) found.push(written);
    }
  }
  return found;
}

async function mostRowsOfToken(source: Rows, expected: number): Promise<number> {
  const counts = new TokenTable({ words: 3, expected });
  let most = 0;
  for await (const rows of readRequest(source.open()))
    for (const { token } of rows) most = Math.max(most, addOne(counts, tokenKey(token)));
  return most;
}

/** Adds one to the number of a token in a table. Returns the sum. */
function addOne(table: TokenTable, key: string): number {
  const sum = table.get(key) + 1;
  table.set(key, sum);
  return sum;
}
