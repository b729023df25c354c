// Divides the rows of a file by the claims that have them.

import type { SettledClaim } from '../ledger/claims.ts';
import type { LedgerCycle } from '../ledger/cycle.ts';
import { keyOfRequestRow, keyOfRequestToken } from '../ledger/request-rows.ts';
import { RowSet, RowSetBuilder } from '../ledger/row-set.ts';
import type { RequestFileCheck } from '../request/request-file.ts';
import { readRequest } from '../request/request-lines.ts';
import { type DividedRows, RowsFile, repeatsToken, withTokensOnce } from '../request/rows-file.ts';
import type { Context } from '../../cli/app/command.ts';
import type { UploadSource } from '../../client/transfer/source.ts';

/** A claim, and its rows of a file. */
export interface JoinedRows extends SettledClaim {
  readonly file: DividedRows;
}

/** The rows of a file: free, claimed by jobs, or up to date. */
export interface Division {
  /** The rows without a claim, in files without repeated tokens. */
  readonly free: readonly DividedRows[];
  /** The check of these rows together; undefined if there are none. */
  readonly freeCheck: RequestFileCheck | undefined;
  /** The claimed rows, by claim. */
  readonly joined: readonly JoinedRows[];
  /** The rows whose tokens came from results of the cycle. */
  readonly upToDate: RowSet;
}

/** The rows to divide. */
interface RowsToDivide {
  /** The salt of new keys. */
  readonly salt: string;
  readonly source: Pick<UploadSource, 'open'>;
  /** Whether the rows name several merchants, so that a token may be repeated. */
  readonly isMixed: boolean;
}

/**
 * Divides the rows of a file by their claims. Returns undefined if all rows are free and no token is repeated, so that the
 * file can be sent as it is.
 */
export async function divideRows(
  context: Context,
  cycle: LedgerCycle,
  { salt, source, isMixed }: RowsToDivide,
  taken: readonly SettledClaim[],
): Promise<Division | undefined> {
  const repeats = isMixed && (await repeatsToken(source));
  const newTokens = await cycle.newTokens(await cycle.read());
  if (!repeats && taken.length === 0 && newTokens.every(({ size }) => size === 0)) return undefined;
  const sets = await Promise.all(taken.map(({ claim }) => cycle.rowSetOf(claim)));
  const groups = taken.map(() => new RowsFile(context));
  const free = new RowsFile(context);
  const upToDate = new RowSetBuilder(salt);
  for await (const rows of readRequest(source.open())) {
    for (const row of rows) {
      const group = groups[RowSet.firstWith(sets, (salt) => keyOfRequestRow(salt, row))];
      if (group !== undefined) group.add(row.line);
      else if (RowSet.firstWith(newTokens, (salt) => keyOfRequestToken(salt, row.token)) !== -1)
        upToDate.add(keyOfRequestRow(salt, row));
      else free.add(row.line);
    }
    for (const file of [free, ...groups]) await file.flush();
  }
  const current = upToDate.build();
  if (!repeats && current.size === 0 && groups.every(({ rows }) => rows === 0)) return undefined;
  const joined: JoinedRows[] = [];
  for (const [index, one] of taken.entries()) {
    const file = await groups[index]?.finish();
    if (file) joined.push({ ...one, rows: file.check.rows, file });
  }
  const freeFile = await free.finish();
  const freeFiles = freeFile === undefined ? [] : await withTokensOnce(context, freeFile);
  return { free: freeFiles, freeCheck: freeFile?.check, joined, upToDate: current };
}
