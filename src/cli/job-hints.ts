import type { Nudge } from '../runs/pause.ts';
import type { RunRecord } from '../runs/record.ts';
import type { Context } from './context.ts';

/** Gives, for a run, what tells when one of its jobs has ended. */
export type RunNudge = (record: RunRecord) => Nudge;

/**
 * Listens on loopback for the events of jobs, until the command is over. An event only tells when to look.
 * @throws SvcError `local` when the port cannot be had
 */
export async function listenForJobs(context: Context, port: number): Promise<RunNudge> {
  const { notices, clock } = context;
  const { JobHints } = await import('../events/job-hints.ts');
  const hints = await JobHints.open({
    port,
    clock,
    onRefused: ({ status, reason }) => notices.warn(`a request was turned away (${status}): ${reason}`),
  });
  context.onClose(() => hints.close());
  notices.note(`listening for events on ${hints.url}`);
  return ({ parts }) =>
    async (signal) => {
      await hints.next((job) => parts.some((part) => part.job === job), signal);
      if (!signal.aborted) notices.note('an event says that a job has ended: looking at it now');
    };
}
