import type { WakeUp } from '../../account-updater/poll.ts';
import type { Actions } from '../../account-updater/result-codes.ts';
import type { Context } from '../../app/command.ts';
import { hostName, integer, repeated, value, type ValueParser } from '../../app/parameter.ts';
import { type ChosenStep, parseChosenStep, RESULT_STEPS } from '../../config/values.ts';
import { SvcError } from '../../errors.ts';
import type { TransferProgress } from '../../output/progress.ts';

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
export type JobWakeUp = (of: { readonly parts: readonly { readonly job?: string }[] }) => WakeUp;

/**
 * Listens on loopback for the events of jobs, until the command is over. An event only tells when to look.
 * @throws SvcError `local` when the port cannot be had
 */
export async function listenForJobs(context: Context, { host, port }: EventsAddress): Promise<JobWakeUp> {
  const { notices, clock } = context;
  const { JobHints } = await import('../../webhooks/job-hints.ts');
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

const WORDS = RESULT_STEPS.join(', ');

const action: ValueParser<ChosenStep> = (typed) => {
  const chosen = parseChosenStep(typed);
  if (chosen) return chosen;
  throw new SvcError('usage', `must be a result code, =, and one of ${WORDS}`);
};

/** `--action`: what a result code asks for, where the operator knows better. The last one for a code counts. */
export const actionParameter = repeated(
  '--action <code=step>',
  `what to do with the rows of a result code: ${WORDS}; for example WRN_OPT_OUT=exclude. For good: svc profile set action.WRN_OPT_OUT exclude`,
  action,
);

/** What the operator chose, code by code: on the command line, else in the profile. */
export function actionsOf({ settings }: Pick<Context, 'settings'>, typed: readonly ChosenStep[]): Actions {
  return new Map([...Object.entries(settings.stored?.actions ?? {}), ...typed]);
}

const LARGE = 8_000_000;

/** Progress of reading much: shown once it is known to be much. */
export class ByteProgress {
  readonly #context: Pick<Context, 'progress'>;
  readonly #label: string;
  #shown: TransferProgress | undefined;

  constructor(context: Pick<Context, 'progress'>, label: string) {
    this.#context = context;
    this.#label = label;
  }

  /** Bytes done, and bytes in all. */
  update(done: number, total: number): void {
    if (total >= LARGE) this.#shown ??= this.#context.progress.bytes(this.#label, total);
    this.#shown?.update(done);
  }

  /** All is read. */
  done(): void {
    this.#shown?.done();
    this.#shown = undefined;
  }

  /** The work stopped, unless it was done; the error is reported elsewhere. */
  stop(): void {
    this.#shown?.fail();
    this.#shown = undefined;
  }
}
