// The file of refused rows: how it begins, and whether somebody corrected it.

import fs from 'node:fs';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { countText } from '../../cli/output/time.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { readHead } from '../request/file-kind.ts';
import { TokenTable } from '../request/token-table.ts';
import type { CsvRow } from '../csv-rows.ts';
import { exportWords } from './prepare-options.ts';
import type { PrepareOptions, ReadingOptions } from './how-to-read.ts';
import { prepareRequest, REJECTS_COLUMNS } from './prepare.ts';

const START = `${REJECTS_COLUMNS.join(',')},`;

/** Tells whether a file begins like a file of refused rows. */
export async function isRejectsFile(path: string): Promise<boolean> {
  if (fs.statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  return (await readHead(path)).startsWith(START);
}

/**
 * Refuses to replace a file of refused rows in which somebody corrected rows: they are in no other file. `name` is the typed
 * name.
 * @throws SvcError `usage`
 */
export async function refuseCorrected(
  path: string,
  name: string,
  { exported, how }: { readonly exported: string; readonly how: ReadingOptions },
): Promise<void> {
  if (!(await isRejectsFile(path))) return;
  const { columns, dateOrder, noExpiration } = how;
  const options = { columns, dateOrder, noExpiration };
  if ((await countReadable(path, options)) === 0) return;
  const unchanged = await findUnchanged(path, exported, how);
  const rows = await countReadable(path, {
    ...options,
    isSkipped: ({ cells }) => unchanged.get(rowInExport(cells)) === FOUND,
  });
  if (rows === 0) return;
  throw new SvcError('usage', `${name} has ${countText(rows, 'row')} in which nothing is wrong`, {
    hint: 'It seems to have been corrected. Make a request of it before it is replaced, or add --force to replace it:',
    next: [
      'au',
      'prepare',
      name,
      ...exportWords({ ...how, keep: undefined, columnNames: undefined, noQuotes: undefined }),
    ],
  });
}

const REFUSED = 1;
const FOUND = 2;

/**
 * Finds the refused rows that the export has as they are: nobody corrected them, even if nothing is wrong in them now, because
 * other options read them, or because their encoding was all that was wrong.
 */
async function findUnchanged(path: string, exported: string, how: ReadingOptions): Promise<TokenTable> {
  const rows = new TokenTable();
  const isSkipped = ({ cells }: CsvRow): boolean => {
    rows.set(rowInExport(cells), REFUSED);
    return true;
  };
  await countReadable(path, { columns: how.columns, isSkipped });
  const isFound = ({ cells }: CsvRow): boolean => {
    const row = cells.join('\0');
    if (rows.get(row) === REFUSED) rows.set(row, FOUND);
    return true;
  };
  await countReadable(exported, { ...how, keep: [], isSkipped: isFound });
  return rows;
}

/** Returns the cells that a refused row has in the export, as one text. */
function rowInExport(cells: readonly string[]): string {
  return cells.slice(REJECTS_COLUMNS.length).join('\0');
}

/** Counts the rows of a file that could be in a request. */
async function countReadable(path: string, options: PrepareOptions): Promise<number> {
  try {
    const { rows } = await prepareRequest((await fileSource(path)).open(), { request: async () => undefined }, options);
    return rows;
  } catch (error) {
    if (isSvcError(error, 'refused_input')) return 0;
    throw error;
  }
}
