import fs from 'node:fs/promises';
import path from 'node:path';
import { type Actions, type Pile, PILES } from '../csv/actions.ts';
import type { Rereadable } from '../csv/reconcile.ts';
import { splitResults } from '../csv/split-results.ts';
import { SvcError } from '../errors.ts';
import { systemCodeOf } from '../system-code.ts';
import { WholeFile } from '../transfer/whole-file.ts';
import type { SplitFile } from '../views/report.ts';
import { writeFailure } from '../write-failure.ts';
import { makeDirectory } from '../files/directory.ts';

/** Where a split goes. */
export interface SplitTarget {
  /** Made where it does not exist, private. */
  readonly directory: string;
  /** Takes a directory that holds something; files of an earlier split are replaced or removed. */
  readonly force: boolean;
  /** Whether the files are for a spreadsheet. */
  readonly excelSafe: boolean;
}

/** Looks at the directory before anything is read. @throws SvcError `usage` when it holds something, or is none */
export async function checkSplitTarget({ directory, force }: SplitTarget): Promise<void> {
  try {
    if ((await fs.readdir(directory)).length === 0 || force) return;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return;
    if (systemCodeOf(error) !== 'ENOTDIR') throw writeFailure(directory, error);
    throw new SvcError('usage', `${directory} is not a directory`, {
      hint: 'Give a directory.',
      cause: error,
    });
  }
  throw new SvcError('usage', `${directory} is not empty`, {
    hint: 'Give another directory, or --force to replace the files of an earlier split.',
  });
}

interface OpenPile {
  readonly file: WholeFile;
  rows: number;
}

/** Writes a file for each pile that has rows; each whole, and none before all rows were read. */
export async function splitInto(
  results: Rereadable,
  target: SplitTarget,
  actions: Actions,
): Promise<SplitFile[]> {
  const { directory, force, excelSafe } = target;
  makeDirectory(directory);
  const open = new Map<Pile, OpenPile>();
  try {
    for await (const rows of splitResults(results.open(), actions, excelSafe)) {
      for (const { pile, header, line } of rows) {
        const into = open.get(pile) ?? (await begin(open, pile, directory, header));
        into.rows += 1;
        await into.file.write(line);
      }
    }
    for (const { file } of open.values()) await file.finish(force);
    if (force) await removeOthers(directory, open);
  } finally {
    for (const { file } of open.values()) await file.discard();
  }
  return PILES.flatMap((pile) => {
    const rows = open.get(pile)?.rows;
    return rows === undefined ? [] : [{ file: fileOf(directory, pile), rows }];
  });
}

async function begin(
  open: Map<Pile, OpenPile>,
  pile: Pile,
  directory: string,
  header: string,
): Promise<OpenPile> {
  const file = await WholeFile.begin(fileOf(directory, pile));
  const begun = { file, rows: 0 };
  open.set(pile, begun);
  await file.write(header);
  return begun;
}

/** A pile that has no rows this time must not look as if it had. */
async function removeOthers(directory: string, open: ReadonlyMap<Pile, OpenPile>): Promise<void> {
  for (const pile of PILES) if (!open.has(pile)) await fs.rm(fileOf(directory, pile), { force: true });
}

function fileOf(directory: string, pile: Pile): string {
  return path.join(directory, `${pile}.csv`);
}
