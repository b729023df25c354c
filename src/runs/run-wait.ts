import type { Client } from '../api/client.ts';
import { SvcError } from '../errors.ts';
import { failedRunError, lookOnce } from './advance.ts';
import { lookUntil } from './look-until.ts';
import { statusOf, type RunRecord } from './record.ts';
import type { RunDirectory } from './run-directory.ts';
import { LONGEST_WAIT_MS, type WaitOptions } from './wait.ts';

/**
 * Looks at all jobs of a run, less and less often, and brings results as they come, until none is under way.
 * @throws SvcError `job_failed` when a part failed, `pending` when the time is up
 */
export async function waitForRun(
  client: Client,
  run: RunDirectory,
  options: WaitOptions = {},
): Promise<void> {
  const { clock, signal } = client;
  const { limitMs = LONGEST_WAIT_MS, random, onEvent, nudge } = options;
  const { id } = run.record;
  const started = clock.now();
  const left = await lookUntil({
    look: () => lookOnce(client, run, options),
    isDone: (count) => count === 0,
    limitMs: () => limitMs,
    clock,
    signal,
    random,
    nudge,
    onLook: (glance, nextMs) => {
      const waitedMs = clock.now() - started;
      if ('reason' in glance) onEvent?.({ kind: 'cut off', job: id, reason: glance.reason, nextMs });
      else onEvent?.({ kind: 'looked', job: id, status: wordsOf(run.record), waitedMs, nextMs });
    },
  });
  if (left !== 0) throw pendingError(run.record);
  if (statusOf(run.record) === 'failed' || run.record.parts.some(({ state }) => state === 'failed'))
    throw failedRunError(run);
}

/** How far a run is: one job's status in the service's word, or how many of several are done. */
export function wordsOf({ parts }: RunRecord): string {
  if (parts.length === 1) return parts[0]?.seen ?? parts[0]?.state ?? '';
  const count = (...states: string[]): number => parts.filter(({ state }) => states.includes(state)).length;
  const failed = count('failed');
  const done = `${count('completed', 'downloaded')} of ${parts.length} jobs done`;
  return failed === 0 ? done : `${done}, ${failed} failed`;
}

function pendingError(record: RunRecord): SvcError {
  return new SvcError('pending', `run ${record.id} is not done: ${wordsOf(record)}`, {
    hint: `Continue with 'svc au wait ${record.id}'.`,
    facts: { run: record.id },
  });
}
