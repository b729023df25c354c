import { isSvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { countText } from '../../cli/output/time.ts';
import { nextPollDelay } from '../../client/api/poll.ts';
import type { ListedJob } from '../../schema/account-updater.ts';

/** Errors that may not occur again at the next read of the list. */
const OUTAGE = ['network', 'server', 'rate_limited', 'bad_response'] as const;

/**
 * Reads a list of jobs at increasing intervals, and yields each job that is new or whose status has changed, until no
 * job in the list is under way. Outages after the first read do not end it.
 */
export async function* watchJobs<T extends Pick<ListedJob, 'id' | 'status'>>(
  { clock, signal, progress, notices }: Pick<Context, 'clock' | 'signal' | 'progress' | 'notices'>,
  look: () => Promise<readonly T[]>,
  random: () => number = Math.random,
): AsyncGenerator<readonly T[]> {
  const started = clock.now();
  const statuses = new Map<string, string | undefined>();
  const live = progress.watching('jobs');
  let underWay = 0;
  try {
    for (let looks = 0; looks === 0 || underWay > 0; looks += 1) {
      const nextMs = nextPollDelay(looks, clock.now() - started, random);
      try {
        const jobs = await look();
        yield jobs.filter(({ id, status }) => !id || statuses.get(id) !== (status ?? undefined));
        for (const { id, status } of jobs) if (id) statuses.set(id, status ?? undefined);
        // What cannot be read is never known to end.
        underWay = jobs.filter(({ status }) => status && status !== 'completed' && status !== 'failed').length;
      } catch (error) {
        if (looks === 0 || !isSvcError(error, ...OUTAGE)) throw error;
        notices.warn(`the list could not be read: ${error.message}; it is tried again`);
      }
      if (underWay === 0) return;
      live?.update({ state: `${countText(underWay, 'job')} under way`, nextPollAt: clock.now() + nextMs });
      await clock.sleep(nextMs, signal);
    }
  } finally {
    live?.fail();
  }
}
