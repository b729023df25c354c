// Names of cycles: typed ones, those made from a file, and the folder that each has in a ledger.

import { sha256Of } from '../../base/files/draft.ts';
import type { RowSet } from './row-set.ts';
import { isJobId } from '../job/job.ts';
import { SvcError } from '../../base/errors.ts';
import { textToSend, type ValueParser } from '../../cli/app/value-parsers.ts';

/** Returns the cycle for a file submitted without one. The same rows in any order and with any quotes have the same cycle. */
export function fileCycle(rows: RowSet): string {
  return `file-${rows.name().slice(0, 16)}`;
}

/** Tells whether a cycle was made for a file submitted without one. */
export function isFileCycle(cycle: string): boolean {
  return /^file-(?:unknown-)?[0-9a-f]{16}$/.test(cycle);
}

/** Tells whether the folder of a cycle has a name that an operator typed, not a hash. */
export function isNamedCycle(folder: string): boolean {
  return !isFileCycle(folder) && !/^old-[0-9a-f]{16}$/.test(folder);
}

/** Returns the command that submits a file in a cycle, as words. */
export function submitWords(file: string, cycle: string): string[] {
  return ['au', 'submit', file, ...(isFileCycle(cycle) ? [] : ['--cycle', cycle])];
}

/** The name of the file that a refresh submits, in the directory of its cycle. */
export const REFRESH_REQUEST = 'request.csv';

const MAX_NAME_LENGTH = 40;

/** The longest name of a cycle before its counter. */
const MAX_BASE_LENGTH = MAX_NAME_LENGTH - 4;

/**
 * Returns the next unused name for rows that are sent again: `2026-12.2` after `2026-12`, then `2026-12.3`; for rows of a file
 * without a cycle `tokens-fix`, then `tokens-fix.2`.
 */
export async function nextCycle(
  ledger: { cycle(name: string): { read(): Promise<readonly unknown[]> } },
  { cycle, file }: { readonly cycle: string | undefined; readonly file: string },
): Promise<string> {
  const isUsed = async (name: string): Promise<boolean> => (await ledger.cycle(name).read()).length > 0;
  const current = cycle ?? nameOfFile(file);
  if (cycle === undefined && !(await isUsed(current))) return current;
  const [, before = '', counted = ''] = /^(.+)\.(\d+)$/.exec(current) ?? [];
  // In 2026.12, the 12 is no counter, unless a cycle 2026 exists.
  const isCounted = before !== '' && (await isUsed(before));
  const base = (isCounted ? before : current).slice(0, MAX_BASE_LENGTH).replace(/^[._-]+|[._-]+$/g, '');
  for (let count = isCounted ? Number(counted) + 1 : 2; ; count += 1) {
    const name = `${base}.${count}`;
    if (!(await isUsed(name))) return name;
  }
}

function nameOfFile(file: string): string {
  const words = file
    .replace(/\.csv$/i, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return `${(words ?? ['rows'])
    .join('-')
    .slice(0, MAX_BASE_LENGTH - 4)
    .replace(/-$/, '')}-fix`;
}

/** Returns the folder of a cycle: its name, or a hash if the name is not safe for a folder, as an earlier build accepted. */
export function cycleFolder(cycle: string): string {
  return isFolderName(cycle) ? cycle : `old-${sha256Of(cycle).slice(0, 16)}`;
}

function isFolderName(cycle: string): boolean {
  const isPlain = cycle.length <= MAX_NAME_LENGTH && /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/.test(cycle);
  return isPlain && !cycle.includes('..') && !DEVICE.test(cycle);
}

// Windows opens a device under these names, whatever follows a dot.
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;

/** Parses the name of a cycle, which is not case-sensitive, and refuses a card number. */
export const cycleName: ValueParser<string> = (value) => {
  const name = textToSend(value).trim().toLowerCase();
  // A cycle is also a directory, and '.' and '..' would name other directories.
  if (name.length <= MAX_NAME_LENGTH && /^[a-z0-9._-]+$/.test(name) && !/^\.+$/.test(name)) return name;
  throw new SvcError(
    'usage',
    'must be 1 to 40 letters, digits, dots, underscores or hyphens, and not only dots, such as 2026-12',
  );
};

/**
 * Checks that the name of a new cycle is safe for a folder and cannot be mistaken for a job.
 * @throws SvcError `usage`
 */
export function requireClearName(cycle: string | undefined): void {
  if (cycle === undefined || (isFolderName(cycle) && !isJobId(cycle))) return;
  const why = isJobId(cycle) ? 'looks like the id of a job' : 'is not safe as the name of a folder on every system';
  throw new SvcError('usage', `no cycle can begin with the name ${cycle}, which ${why}`, {
    hint: 'Nothing was submitted. Choose another name that begins and ends with a letter or digit, such as 2026-12.',
  });
}
