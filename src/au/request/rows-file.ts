// Writes some rows of a request to private files in which no token is repeated.

import { SvcError } from '../../base/errors.ts';
import { Draft } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { fileSource, type UploadSource } from '../../client/transfer/source.ts';
import { checkRequestFile } from './check-request-file.ts';
import { openOverflowFile, openSpool } from './spool.ts';
import { TokenTable } from './token-table.ts';
import { REQUEST_HEADER, type RequestFileCheck } from './request-file.ts';
import { readRequest } from './request-lines.ts';
import { tokenKey } from './row-key.ts';

/** A private request file with some of the rows, which is removed at the end of the command. */
export interface DividedRows {
  readonly path: string;
  readonly check: RequestFileCheck;
}

/** A request file that is written row by row. It exists once it has a row. */
export class RowsFile {
  readonly #context: Context;
  #text = `${REQUEST_HEADER}\n`;
  #draft: Draft | undefined;
  #path = '';
  rows = 0;

  constructor(context: Context) {
    this.#context = context;
  }

  add(line: string): void {
    this.#text += `${line}\n`;
    this.rows += 1;
  }

  /** Writes the added rows. */
  async flush(): Promise<void> {
    if (this.rows === 0 || this.#text === '') return;
    this.#draft ??= await this.#begin();
    const text = this.#text;
    this.#text = '';
    await this.#draft.write(text);
  }

  /** Returns the checked file; undefined if no row was added. */
  async finish(): Promise<DividedRows | undefined> {
    if (this.rows === 0) return undefined;
    await this.flush();
    await this.#draft?.replace();
    const { signal, clock } = this.#context;
    const openOverflow = () => openOverflowFile(this.#context);
    const options = { signal, openOverflow, now: clock.now() };
    const check = await checkRequestFile((await fileSource(this.#path)).open(), options);
    return { path: this.#path, check };
  }

  async #begin(): Promise<Draft> {
    this.#path = await openSpool(this.#context);
    const draft = await Draft.begin(this.#path);
    // Another file may stop the command before this one is finished.
    this.#context.onClose(() => draft.discard());
    return draft;
  }
}

type Rows = Pick<UploadSource, 'open'>;

/** The largest number of files that are open at the same time, even for a token with more merchants. */
const FILES_AT_ONCE = 16;

/** Tells whether a token has several rows, for several merchants. */
export async function repeatsToken(source: Rows, expected = 0): Promise<boolean> {
  return (await mostRowsOfToken(source, expected)) > 1;
}

/**
 * Checks that each token has one row in a file for a single job. `typed` is the name of the file as typed.
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
 * Divides rows into files with one row for each token: rows of a token's further merchants go into further files, and so into
 * other jobs. Results name no merchant, so the job and the token together must identify a row.
 */
export async function withTokensOnce(context: Context, whole: DividedRows): Promise<readonly DividedRows[]> {
  const { path, check } = whole;
  if (!check.duplicates.hasSeveralMerchants) return [whole];
  const source = await fileSource(path, { sha256: check.sha256 });
  const rowsOfToken = await mostRowsOfToken(source, check.rows);
  if (rowsOfToken === 1) return [whole];
  const divided: DividedRows[] = [];
  for (let first = 1; first <= rowsOfToken; first += FILES_AT_ONCE) {
    const files = Array.from({ length: Math.min(FILES_AT_ONCE, rowsOfToken + 1 - first) }, () => new RowsFile(context));
    const before = new TokenTable({ expected: check.rows });
    for await (const rows of readRequest(source.open())) {
      for (const { token, line } of rows) files[addOne(before, tokenKey(token)) - first]?.add(line);
      for (const file of files) await file.flush();
    }
    for (const file of files) {
      const written = await file.finish();
      if (written) divided.push(written);
    }
  }
  return divided;
}

async function mostRowsOfToken(source: Rows, expected: number): Promise<number> {
  const counts = new TokenTable({ expected });
  let maxRows = 0;
  for await (const rows of readRequest(source.open()))
    for (const { token } of rows) maxRows = Math.max(maxRows, addOne(counts, tokenKey(token)));
  return maxRows;
}

/** Adds one to the number of a token in a table. Returns the sum. */
function addOne(table: TokenTable, key: string): number {
  const sum = table.get(key) + 1;
  table.set(key, sum);
  return sum;
}
