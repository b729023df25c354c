import { copyFlushed } from '../../base/files/durable.ts';
import type { Part, PartResults } from '../run/part.ts';
import { partsByJob } from '../run/record.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { checksOf, flawsOf, isIntact, recordPartResults } from './download.ts';

/**
 * Gives each part the results that another part of this run has of the same job. Rows that were divided later may need a job
 * that the service has forgotten, or whose claim the operator ended since.
 */
export async function shareResults(run: RunDirectory): Promise<void> {
  for (const parts of partsByJob(run.record.parts)) {
    const lacking = parts.filter(({ job, state }) => job !== undefined && state !== 'downloaded');
    if (lacking.length === 0 || lacking.length === parts.length) continue;
    const owner = await intactPart(run, parts);
    if (owner?.results === undefined) continue;
    for (const part of lacking) await takeResults(run, part, run.resultsFile(owner), owner.results);
  }
}

async function intactPart(run: RunDirectory, parts: readonly Part[]): Promise<Part | undefined> {
  for (const part of parts) if (part.state === 'downloaded' && (await isIntact(run, part))) return part;
  return undefined;
}

/** Copies results of a part's job to the part, unless they are wrong for its rows. */
export async function takeResults(
  run: RunDirectory,
  part: Part,
  file: string,
  { bytes, sha256, proof }: PartResults,
): Promise<boolean> {
  const checks = await checksOf(run, part);
  if ((await flawsOf(file, 'length', checks)).length > 0) return false;
  copyFlushed(file, run.resultsFile(part));
  recordPartResults(run, part, { bytes, sha256, proof, compared: checks.request !== undefined });
  return true;
}
