import type { Nudge } from '../runs/pause.ts';
import type { Context } from './context.ts';
import { value } from './parameter.ts';
import { hostName, integer } from './values.ts';

/** Where a wait listens for the events of its jobs. */
export interface EventsAddress {
  readonly port: number;
  /** A name beside those of loopback that senders may use. */
  readonly host: string | undefined;
}

/** `--events`: the port on which a wait listens for the events of its jobs. */
export const eventsParameter = value(
  '--events <[host:]port>',
  'while it waits, receive webhook events on this port of this machine, and look as soon as one says that the job ended; a host is the name that senders use, as of a tunnel',
  parseEventsAddress,
);

/** Gives, for a run or for a job alone, what tells when one of its jobs has ended. */
export type JobNudge = (of: { readonly parts: readonly { readonly job?: string }[] }) => Nudge;

/**
 * Listens on loopback for the events of jobs, until the command is over. An event only tells when to look.
 * @throws SvcError `local` when the port cannot be had
 */
export async function listenForJobs(context: Context, { host, port }: EventsAddress): Promise<JobNudge> {
  const { notices, clock } = context;
  const { JobHints } = await import('../events/job-hints.ts');
  const hints = await JobHints.open({
    port,
    allowHosts: host === undefined ? [] : [host],
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

function parseEventsAddress(text: string): EventsAddress {
  const at = text.lastIndexOf(':');
  return {
    port: integer(0, 65_535)(text.slice(at + 1)),
    host: at === -1 ? undefined : hostName(text.slice(0, at)),
  };
}
