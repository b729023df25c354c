import type { Client } from '../api/client.ts';
import { isSvcError, SvcError } from '../errors.ts';
import { failedRunError, needsFile, pollOnce } from './advance.ts';
import { hasUnknown, unknownError } from './poll-parts.ts';
import { pollUntil } from './poll.ts';
import { type RunRecord, statusOf } from './record.ts';
import type { RunDirectory } from './run-directory.ts';
import { LONGEST_WAIT_MS, type WaitOptions } from './wait.ts';

/**
 * Looks at all jobs of a run, less and less often, and brings results as they come, until none is under way.
 * @throws SvcError `job_failed` when a part failed, `outcome_unknown` when nothing tells whether the service has the
 *   file of one, `job_expired` when one needs another job, `pending` when the time is up
 */
export async function waitForRun(
  client: Client,
  run: RunDirectory,
  options: WaitOptions = {},
): Promise<void> {
  const { clock, signal } = client;
  const { limitMs = LONGEST_WAIT_MS, random, onEvent, nudge } = options;
  const { record } = run;
  const started = clock.now();
  const looking = pollUntil({
    look: () => pollOnce(client, run, options),
    isDone: (count) => count === 0,
    limitMs: () => limitMs,
    clock,
    signal,
    random,
    nudge,
    onLook: (glance, nextMs) => {
      const waitedMs = clock.now() - started;
      if ('reason' in glance)
        onEvent?.({ kind: 'unreachable', job: record.id, reason: glance.reason, nextMs });
      else {
        const status = wordsOf(record);
        onEvent?.({ kind: 'polled', job: record.id, status, waitedMs, nextMs, at: client.now() });
      }
    },
  });
  const left = await looking.catch((error: unknown) => {
    if (isSvcError(error, 'timeout') && isDoubtful(run)) throw unknownError(run);
    throw error;
  });
  if (left !== 0) throw isDoubtful(run) ? unknownError(run) : pendingError(run);
  if (hasUnknown(record)) throw unknownError(run);
  if (record.parts.some(({ state }) => state === 'failed')) throw failedRunError(run);
  if (needsFile(record)) throw unfinishedError(run);
  onEvent?.({ kind: 'completed', job: record.id });
}

/** Whether a job was missing when the time was up: whether the service has its file is not known then. */
function isDoubtful(run: RunDirectory): boolean {
  const missing = run.record.parts.filter(
    ({ state, missing_since: since }) => state === 'uploaded' && since !== undefined,
  );
  for (const part of missing) part.state = 'unknown';
  if (missing.length > 0) run.save();
  return hasUnknown(run.record);
}

/** How far a run is: one job's status in the service's word, or how many of several are done and what the others do. */
export function wordsOf({ parts }: Pick<RunRecord, 'parts'>): string {
  const [only] = parts;
  if (parts.length === 1 && only) return only.state === 'unknown' ? only.state : (only.seen ?? only.state);
  const open = parts.filter(({ state }) => state !== 'completed' && state !== 'downloaded');
  const others = new Map<string, number>();
  for (const { state, seen } of open) {
    const word = state === 'uploaded' ? (seen ?? state) : state;
    others.set(word, (others.get(word) ?? 0) + 1);
  }
  const counted = [...others].map(([word, count]) => `, ${count} ${word}`);
  return `${parts.length - open.length} of ${parts.length} jobs done${counted.join('')}`;
}

/** Parts have no job with a file, or none any more: `svc au submit` is the one that can go on with them. */
export function unfinishedError({ record, name, submitCommand }: RunDirectory): SvcError {
  const { id, parts } = record;
  const waiting = parts.filter((part) => needsFile({ parts: [part] }));
  const numbers = waiting.map(({ number }) => number).join(', ');
  const what = parts.length === 1 ? 'its file' : `the file of part ${numbers}`;
  const gone = waiting.flatMap(({ earlier_jobs: earlier = [] }) => earlier.at(-1)?.job ?? []);
  const why = gone.length === 0 ? '' : `: job ${gone.join(', ')} vanished without it`;
  return new SvcError('job_expired', `run ${id} has still to upload ${what}${why}`, {
    hint:
      statusOf(record) === 'abandoned'
        ? `It was abandoned: 'svc au download ${name}' brings what it has, 'svc au abandon ${name} --undo' takes it up again.`
        : `Go on with '${submitCommand}', or give it up with 'svc au abandon ${name}'.`,
    facts: { run: id },
  });
}

function pendingError({ record, name }: RunDirectory): SvcError {
  return new SvcError('pending', `run ${record.id} is not done: ${wordsOf(record)}`, {
    hint: `Continue with 'svc au wait ${name}'.`,
    facts: { run: record.id },
  });
}
