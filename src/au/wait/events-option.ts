import type { Context } from '../../cli/app/command.ts';
import { value } from '../../cli/app/parameter.ts';
import { hostName, integer } from '../../cli/app/value-parsers.ts';
import type { WakeUp } from '../../client/api/poll.ts';

/** The address on which a wait listens for the events of its jobs. */
export interface EventsAddress {
  readonly port: number;
  /** A host name that senders may use besides the names of this machine. */
  readonly host: string | undefined;
}

/** The option `--events`: the port on which a wait listens for the events of its jobs. */
export const eventsParameter = value(
  '--events <[host:]port>',
  'poll when a webhook event arrives on this port',
  (typed): EventsAddress => {
    const colon = typed.lastIndexOf(':');
    return {
      port: integer(0, 65_535)(typed.slice(colon + 1)),
      host: colon === -1 ? undefined : hostName(typed.slice(0, colon)),
    };
  },
);

/** Formats the address as it was typed. */
export function eventsWords(events: EventsAddress | undefined): string | undefined {
  if (events === undefined) return undefined;
  const { host, port } = events;
  return host === undefined ? String(port) : `${host}:${port}`;
}

/** Returns, for a run or a single job, a function that ends a pause early when one of its jobs has ended. */
export type JobWakeUp = (of: { readonly parts: readonly { readonly job?: string | undefined }[] }) => WakeUp;

/**
 * Listens on loopback for events of jobs. An event only starts the next poll early.
 * @throws SvcError `local` if the port cannot be used
 */
export async function listenForJobs(context: Context, { host, port }: EventsAddress): Promise<JobWakeUp> {
  const { notices, clock } = context;
  const { JobHints } = await import('../run/job-hints.ts');
  const hints = await JobHints.open({
    port,
    allowHosts: host === undefined ? [] : [host],
    clock,
    onRefused: ({ status, reason }) => notices.warn(`a request was refused (${status}): ${reason}`),
  });
  context.onClose(() => hints.close());
  notices.note(`listening for events on ${hints.url}`);
  return ({ parts }) =>
    async (signal) => {
      await hints.next((job) => parts.some((part) => part.job === job), signal);
      if (!signal.aborted) notices.note('an event says that a job has ended: polling now');
    };
}
