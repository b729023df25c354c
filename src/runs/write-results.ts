import fs from 'node:fs/promises';
import path from 'node:path';
import { writeFailure } from '../write-failure.ts';
import { fileSource } from '../transfer/source.ts';
import { inspectTarget } from '../transfer/target.ts';
import { hashOf } from './collect.ts';
import { mergeResults } from './merge.ts';
import type { ResultsFile, RunRecord } from './record.ts';
import type { RunDirectory } from './run-directory.ts';

/** Where the results of a run are to go. */
export interface Destination {
  readonly out: string;
  /** Whether a file that is there may be replaced. */
  readonly force: boolean;
}

/** The name of merged results that stay in the run's directory. */
const KEPT = 'results.csv';

/**
 * Writes the results of all parts into one file, in the order of the input. A file that the run wrote before, and that
 * is still as it was, is left alone. A pipe or a device gets a copy of a file in the run's directory.
 */
export async function writeResults(run: RunDirectory, { out, force }: Destination): Promise<ResultsFile> {
  const { record } = run;
  const own = await ownResults(record, out);
  if (own) return noteResults(run, { ...own, file: path.resolve(out) });
  const target = await inspectTarget(out, force);
  if (target.kind === 'file') return merge(run, target.path, force);
  const kept = await merge(run, path.join(run.path, KEPT), true);
  await copy(kept.file, target.path);
  return kept;
}

/** Writes the results into the run's own directory: the place that they were meant for cannot be had. */
export function keepResults(run: RunDirectory): Promise<ResultsFile> {
  return merge(run, path.join(run.path, KEPT), true);
}

/** Looks at the place before anything is asked of the service. A result file that this run wrote is no obstacle. */
export async function checkDestination(
  record: RunRecord | undefined,
  { out, force }: Destination,
): Promise<void> {
  if (!record || !(await ownResults(record, out))) await inspectTarget(out, force);
}

async function merge(run: RunDirectory, file: string, overwrite: boolean): Promise<ResultsFile> {
  const { record } = run;
  // Of an abandoned run some parts may have none.
  const parts = record.parts.filter(({ state }) => state === 'downloaded');
  const files = parts.map((part) => run.resultsFile(part));
  const target = path.resolve(file);
  const merged = await mergeResults(files, target, {
    overwrite,
    mark: record.id,
    onWhole: (whole) => {
      record.writing = { file: target, ...whole };
      run.save();
    },
  });
  return noteResults(run, { file: target, ...merged });
}

function noteResults(run: RunDirectory, results: ResultsFile): ResultsFile {
  delete run.record.writing;
  run.record.results = results;
  run.save();
  return results;
}

/** What is known of a file that is the merged results of this run, byte for byte. */
async function ownResults({ results, writing }: RunRecord, file: string): Promise<ResultsFile | undefined> {
  if (!results && !writing) return undefined;
  const hash = await hashOf(file);
  return [results, writing].find((known) => known?.sha256 === hash);
}

async function copy(file: string, target: string): Promise<void> {
  try {
    const handle = await fs.open(target, 'w');
    try {
      for await (const chunk of (await fileSource(file)).open()) await handle.writeFile(chunk);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw writeFailure(target, error);
  }
}
