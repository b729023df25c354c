import path from 'node:path';
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
 * is still as it was, is left alone, or replaced when the results have changed. For a pipe or a device they are kept in
 * the run's directory, to be copied.
 */
export async function writeResults(run: RunDirectory, { out, force }: Destination): Promise<ResultsFile> {
  const { record } = run;
  const own = force ? undefined : await ownResults(record, out);
  if (own && own === record.results) return noteResults(run, { ...own, file: path.resolve(out) });
  const overwrite = force || own !== undefined;
  const target = await inspectTarget(out, overwrite);
  return target.kind === 'file' ? merge(run, target.path, overwrite) : keepResults(run);
}

/** Writes the results into the run's own directory. */
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
