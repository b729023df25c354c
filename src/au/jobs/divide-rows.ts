import type { Context } from '../../cli/app/command.ts';
import type { UploadSource } from '../../client/transfer/source.ts';
import { readRequest } from '../request/request-lines.ts';
import { type DividedRows, RowsFile } from '../request/rows-file.ts';
import { repeatsToken, withTokensOnce } from '../request/tokens-once.ts';
import type { LedgerCycle } from '../ledger/cycle.ts';
import { keyOfRequestRow, keyOfRequestToken } from '../ledger/request-rows.ts';
import { RowSet } from '../ledger/row-set.ts';
import type { Taken } from '../ledger/claims.ts';

type Rows = Pick<UploadSource, 'open'>;

/** The rows of a file that a claim has. */
export interface JoinedRows extends Taken {
  readonly file: DividedRows;
}

/** The rows of a file, by what is to be done with them. */
export interface Division {
  /** The rows that no claim has, in files none of which has a token twice. */
  readonly free: readonly DividedRows[];
  /** The rows that a claim has, for each claim. */
  readonly joined: readonly JoinedRows[];
  /** The number of rows whose tokens came from results of the cycle. They are up to date. */
  readonly made: number;
}

/** What is known of the rows to divide. */
interface Dividing {
  readonly source: Rows;
  /** Whether the rows name several merchants, so that a token may stand twice. */
  readonly isMixed: boolean;
}

/**
 * Divides the rows of a file among the claims that have them. Returns undefined if all rows are free and no token stands
 * twice, so that the file itself can be sent.
 */
export async function divideRows(
  context: Context,
  cycle: LedgerCycle,
  { source, isMixed }: Dividing,
  taken: readonly Taken[],
): Promise<Division | undefined> {
  const repeats = isMixed && (await repeatsToken(source));
  const born = await cycle.newTokens(await cycle.read());
  if (!repeats && taken.length === 0 && born.every(({ size }) => size === 0)) return undefined;
  const sets = await Promise.all(taken.map(({ claim }) => cycle.rowsOf(claim)));
  const groups = taken.map(() => new RowsFile(context));
  const free = new RowsFile(context);
  let made = 0;
  for await (const rows of readRequest(source.open())) {
    for (const row of rows) {
      const group = groups[RowSet.firstWith(sets, (salt) => keyOfRequestRow(salt, row))];
      if (group !== undefined) group.add(row.line);
      else if (RowSet.firstWith(born, (salt) => keyOfRequestToken(salt, row.token)) !== -1) made += 1;
      else free.add(row.line);
    }
    for (const file of [free, ...groups]) await file.flush();
  }
  if (!repeats && made === 0 && groups.every(({ rows }) => rows === 0)) return undefined;
  const joined: JoinedRows[] = [];
  for (const [index, one] of taken.entries()) {
    const file = await groups[index]?.finish();
    if (file) joined.push({ ...one, rows: file.check.rows, file });
  }
  const left = await free.finish();
  return { free: left === undefined ? [] : await withTokensOnce(context, left), joined, made };
}
