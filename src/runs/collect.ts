import fs from 'node:fs/promises';
import path from 'node:path';
import type { Client } from '../api/client.ts';
import { SvcError } from '../errors.ts';
import type { RunOptions } from './events.ts';
import { type Merged, mergeResults } from './merge.ts';
import { downloadResults } from './results.ts';
import type { RunPart } from './record.ts';
import type { RunDirectory } from './run-directory.ts';

/** Downloads the results of every completed part into the run's directory, whole, and notes each. */
export async function collectResults(client: Client, run: RunDirectory, options: RunOptions): Promise<void> {
  for (const part of run.record.parts) {
    if (part.state === 'completed') await collectPart(client, run, part, options);
  }
}

async function collectPart(
  client: Client,
  run: RunDirectory,
  part: RunPart,
  options: RunOptions,
): Promise<void> {
  const target = run.resultsFile(part);
  // A download that was whole but not noted is fetched again: the file alone does not prove that it is.
  const { bytes, sha256 } = await downloadResults(client, part.job ?? '', target, {
    ...options,
    overwrite: true,
  });
  part.results = { file: path.basename(target), bytes, sha256 };
  part.state = 'downloaded';
  run.save();
}

/** Writes the results of all parts into one file, in the order of the input. */
export async function writeResults(run: RunDirectory, target: string, overwrite: boolean): Promise<Merged> {
  const { record } = run;
  const files = record.parts.map((part) => run.resultsFile(part));
  await checkParts(run);
  const merged = await mergeResults(files, target, overwrite);
  record.results = { file: path.resolve(target), ...merged };
  run.save();
  return merged;
}

async function checkParts({ record, ...run }: RunDirectory): Promise<void> {
  for (const { number, results } of record.parts) {
    const size = results && (await fs.stat(path.join(run.path, results.file)).catch(() => undefined))?.size;
    if (size === results?.bytes) continue;
    throw new SvcError('altered', `the results of part ${number} are no longer in ${run.path} as they came`, {
      hint: `Bring them again with 'svc au download ${record.id} --force'.`,
    });
  }
}
