import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Client } from '../api/client.ts';
import { isSvcError, type SvcError } from '../errors.ts';
import { fileSource } from '../transfer/source.ts';
import type { RunOptions } from './events.ts';
import type { RunPart } from './record.ts';
import { downloadResults } from './results.ts';
import type { RunDirectory } from './run-directory.ts';

/** Failures that concern one part's results; after any other there is no use in trying the next. */
const OF_ONE_PART = ['not_found', 'rejected', 'forbidden', 'incomplete', 'altered', 'bad_answer'] as const;

/**
 * Downloads the results of every completed part into the run's directory, whole, and notes each. A part whose job is
 * gone counts as failed.
 * @returns the first failure that concerns one part alone; the others were brought all the same
 */
export async function collectResults(
  client: Client,
  run: RunDirectory,
  options: RunOptions,
): Promise<SvcError | undefined> {
  let failure: SvcError | undefined;
  for (const part of run.record.parts.filter(({ state }) => state === 'completed')) {
    try {
      await collectPart(client, run, part, options);
    } catch (error) {
      if (isSvcError(error, 'job_expired', 'job_failed')) giveUp(run, part, error, options);
      else if (isSvcError(error, ...OF_ONE_PART)) failure ??= error;
      else throw error;
    }
  }
  return failure;
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

function giveUp(run: RunDirectory, part: RunPart, { code, message }: SvcError, options: RunOptions): void {
  const said = code === 'job_expired' ? 'it was completed, and is gone without its results' : message;
  part.state = 'failed';
  part.errors = [said];
  run.save();
  options.onEvent?.({ kind: 'failed', job: part.job ?? '', errors: part.errors });
}

/** Lets results that are no longer in the run's directory as they came be brought again. */
export async function missResults(run: RunDirectory): Promise<void> {
  const kept = run.record.parts.filter(({ state }) => state === 'downloaded');
  for (const part of kept) {
    if (part.results && (await hashOf(run.resultsFile(part))) === part.results.sha256) continue;
    part.state = 'completed';
    delete part.results;
  }
}

/** SHA-256 of a file, hexadecimal; undefined when it cannot be read. */
export async function hashOf(file: string): Promise<string | undefined> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of (await fileSource(file)).open()) hash.update(chunk);
    return hash.digest('hex');
  } catch {
    return undefined;
  }
}
