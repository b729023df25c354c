// The file of refused rows: how it begins, and whether somebody corrected it.

import fs from 'node:fs';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { countText } from '../../cli/output/time.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { readHead } from '../request/file-kind.ts';
import { OTHER_SHAPE } from './prepare-row.ts';
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
export async function refuseCorrected(path: string, name: string, how: ReadingOptions): Promise<void> {
  if (!(await isRejectsFile(path))) return;
  const rows = await goodRows(path, how);
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

/**
 * Counts the rows of a file that could be in a request. A row whose date is readable only with the given order does not count:
 * it may have been refused before the order was given.
 */
async function goodRows(path: string, { columns, dateOrder = [], noExpiration }: ReadingOptions): Promise<number> {
  // The refused rows alone do not show that tokens should be UUIDs, so the recorded reason decides.
  const options = { columns, noExpiration, onlyUuids: await mentions(path, OTHER_SHAPE) };
  const rows = await readableRows(path, { ...options, dateOrder });
  if (rows === 0 || dateOrder.length === 0) return rows;
  return Math.min(rows, await readableRows(path, options));
}

async function mentions(path: string, words: string): Promise<boolean> {
  let end = '';
  for await (const piece of (await fileSource(path)).open()) {
    const text = end + Buffer.from(piece).toString('latin1');
    if (text.includes(words)) return true;
    end = text.slice(-words.length);
  }
  return false;
}

async function readableRows(path: string, options: PrepareOptions): Promise<number> {
  try {
    const { rows } = await prepareRequest((await fileSource(path)).open(), { request: async () => undefined }, options);
    return rows;
  } catch (error) {
    if (isSvcError(error, 'refused_input')) return 0;
    throw error;
  }
}
