// The file of refused rows: how it begins, and whether somebody corrected it.

import fs from 'node:fs';
import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { countText } from '../../cli/output/number.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { readHead } from '../request/file-kind.ts';
import { withProgress } from '../request/open-request-file.ts';
import { TokenTable } from '../request/token-table.ts';
import type { CsvRow } from '../csv-rows.ts';
import { exportWords } from './prepare-options.ts';
import type { PrepareOptions, ReadingOptions } from './how-to-read.ts';
import { prepareRequest, reasonOf, REJECTS_COLUMNS } from './prepare.ts';
import { NO_UUID } from './prepare-row.ts';

const START = `${REJECTS_COLUMNS.join(',')},`;

/** Tells whether a file begins like a file of refused rows. */
export async function isRejectsFile(path: string): Promise<boolean> {
  if (fs.statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  return (await readHead(path)).startsWith(START);
}

/**
 * Refuses to replace a file of refused rows in which somebody corrected rows: they are in no other file. A row is unchanged if
 * the export has it as it is, even if nothing is wrong in it now, because other options read it, or because its encoding was all that
 * was wrong. `name` is the typed name.
 * @throws SvcError `usage`
 */
export async function refuseCorrected(
  context: Context,
  { path, name }: { readonly path: string; readonly name: string },
  { exported, how }: { readonly exported: string; readonly how: ReadingOptions },
): Promise<void> {
  if (!(await isRejectsFile(path))) return;
  const asRead = { ...how, keep: undefined, columnNames: undefined, noQuotes: undefined };
  const options = { ...asRead, onlyUuids: wasNoUuid, now: context.clock.now() };
  const refused = new TokenTable();
  const collect = ({ cells }: CsvRow): boolean => {
    refused.set(rowInExport(cells), REFUSED);
    return false;
  };
  if ((await countReadable(context, path, { ...options, isSkipped: collect })) === 0) return;
  const find = ({ cells }: CsvRow): boolean => {
    const row = cells.join('\0');
    if (refused.get(row) === REFUSED) refused.set(row, FOUND);
    return true;
  };
  await countReadable(context, exported, { ...how, keep: [], isSkipped: find });
  const isUnchanged = ({ cells }: CsvRow): boolean => refused.get(rowInExport(cells)) === FOUND;
  const rows = await countReadable(context, path, { ...options, isSkipped: isUnchanged });
  if (rows === 0) return;
  throw new SvcError('usage', `${name} has ${countText(rows, 'row')} in which nothing is wrong`, {
    hint: 'It seems to have been corrected. Make a request of it before it is replaced, or add --force to replace it:',
    next: ['au', 'prepare', name, ...exportWords(asRead)],
  });
}

const REFUSED = 1;
const FOUND = 2;

/** Tells whether a row was refused for its token. Only the export shows that most tokens are UUIDs. */
function wasNoUuid(cells: readonly string[]): boolean {
  return cells[1] === reasonOf(NO_UUID);
}

/** Returns the cells that a refused row has in the export, as one text. */
function rowInExport(cells: readonly string[]): string {
  return cells.slice(REJECTS_COLUMNS.length).join('\0');
}

/** Counts the rows of a file that could be in a request. */
async function countReadable(context: Context, path: string, options: PrepareOptions): Promise<number> {
  const source = withProgress(context, 'prepare', await fileSource(path));
  try {
    const { rows } = await prepareRequest(source.open(), { request: async () => undefined }, options);
    return rows;
  } catch (error) {
    if (isSvcError(error, 'refused_input')) return 0;
    throw error;
  }
}
