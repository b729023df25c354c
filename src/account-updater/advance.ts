import type { Client } from '../api/client.ts';
import { isSvcError, SvcError } from '../errors.ts';
import { fileSource } from '../transfer/source.ts';
import { collectResults } from './collect.ts';
import type { RunOptions } from './events.ts';
import { detachJob, findJob, type PartWork } from './job.ts';
import { hasUnknown, notePoll, pollJobs, unknownError } from './poll-parts.ts';
import { type RunPart, type RunRecord, statusOf } from './record.ts';
import type { RunDirectory } from './run-directory.ts';
import { uploadPart } from './upload-part.ts';

/** How many parts go up side by side. */
const AT_ONCE = 3;

/** A run that is worked on: its record, and the way to keep it. */
export type OpenRun = Pick<RunDirectory, 'record' | 'save' | 'name'>;

/** How to upload a run's parts. */
type UploadPartsOptions = RunOptions & Pick<PartWork, 'pollOnce'>;

/**
 * Lets the failed parts of a run have another job: the operator submitted the file again. Each old job is read once
 * more: only one that the service itself still calls failed is replaced, since its rows could be paid twice.
 */
export async function retryFailed(client: Client, run: OpenRun): Promise<void> {
  const work = { client, record: run.record, save: (): void => run.save() };
  for (const part of run.record.parts) {
    if (part.state !== 'failed') continue;
    const job = await findJob(client, part.job ?? '');
    if (job?.status === 'failed') detachJob({ ...work, part }, 'failed');
    else {
      delete part.errors;
      await notePoll(work, part, job);
    }
  }
}

/** Whether any part still has to be uploaded, so that the input file is needed. */
export function needsFile({ parts }: Pick<RunRecord, 'parts'>): boolean {
  return parts.some(
    ({ state }) =>
      state === 'planned' || state === 'creating' || state === 'created' || state === 'uploading',
  );
}

/**
 * Creates jobs for and uploads every part that has none yet, several side by side. The first failure ends it. `file`
 * is what the parts are cut from, checked to be the same as when the run began.
 * @throws SvcError `outcome_unknown` when the service may have the file of a part, and nothing says so
 */
export async function uploadParts(
  client: Client,
  run: OpenRun,
  file: string,
  options: UploadPartsOptions,
): Promise<void> {
  const waiting = run.record.parts.filter(
    (part) => needsFile({ parts: [part] }) || hasUnknown({ parts: [part] }),
  );
  const failures: unknown[] = [];
  const header = await headerFor(run.record, file);
  const worker = async (): Promise<void> => {
    for (let part = waiting.shift(); part && failures.length === 0; part = waiting.shift()) {
      await uploadOnePart(client, run, part, { file, header }, options).catch((error: unknown) =>
        failures.push(error),
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const [failure] = failures;
  const isUnknown = hasUnknown(run.record);
  if (failure !== undefined && !(isUnknown && isSvcError(failure, 'timeout'))) throw failure;
  if (isUnknown) throw unknownError(run);
}

async function uploadOnePart(
  client: Client,
  run: OpenRun,
  part: RunPart,
  { file, header }: { readonly file: string; readonly header: Uint8Array | undefined },
  options: UploadPartsOptions,
): Promise<void> {
  const { sha256 } = part;
  const start = header === undefined ? 0 : part.start;
  // The last part is read to the present end of the file, so that one that grew is noticed.
  const end = part.end === run.record.input.bytes ? undefined : part.end;
  const source = await fileSource(file, { sha256, start, end, prefix: header });
  await uploadPart({ ...options, client, record: run.record, part, source, save: () => run.save() });
}

/** The header line, which goes in front of every part; undefined where the file goes up whole. */
async function headerFor({ parts, input }: RunRecord, file: string): Promise<Uint8Array | undefined> {
  if (parts.length === 1) return undefined;
  const chunks: Uint8Array[] = [];
  const source = await fileSource(file, { end: input.header_bytes });
  for await (const chunk of source.open()) chunks.push(Uint8Array.from(chunk));
  return Buffer.concat(chunks);
}

/**
 * Looks at the jobs under way once, and brings the results of those that are done. Results that cannot be had are
 * left for the next look while other jobs are under way; at the end they are an error.
 * @returns how many parts are still under way
 */
export async function pollOnce(client: Client, run: RunDirectory, options: RunOptions): Promise<number> {
  await pollJobs({ ...options, client, record: run.record, save: () => run.save() });
  const failure = await collectResults(client, run, options);
  const left = run.record.parts.filter(({ state }) => state === 'uploaded').length;
  if (failure !== undefined && left === 0) throw failure;
  return left;
}

/** What a run whose parts failed ends in. */
export function failedRunError({ record, submitCommand }: RunDirectory): SvcError {
  const failed = record.parts.filter(({ state }) => state === 'failed');
  const said = failed.map(
    ({ number, job, errors = [] }) =>
      `part ${number} (job ${job}): ${errors.join('; ') || 'no reason given'}`,
  );
  return new SvcError(
    'job_failed',
    `${failed.length} of ${record.parts.length} jobs of run ${record.id} failed`,
    {
      hint: `Fix what the messages name, then run '${submitCommand}' again: it retries only what failed.`,
      facts: { run: record.id, problems: said, status: statusOf(record) },
    },
  );
}
