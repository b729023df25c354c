// Messages about refused requests, forwarded events and how to send events again.

import type { Context } from '../cli/app/command.ts';
import { option } from '../cli/app/hint.ts';
import { countText } from '../cli/output/number.ts';
import type { ReceivedEvent } from '../client/webhooks/received.ts';
import type { Refusal } from '../client/webhooks/receiver.ts';
import type { Choice, ForwardResult } from './forward.ts';
import type { Unprocessed } from './sinks.ts';
import { displayTarget, hasHiddenPart, targetAdvice } from './target.ts';
import { shortId } from './unsent.ts';

/** How many refused requests are reported per reason, since anybody can send any number of requests. */
const MAX_REPORTED_PER_REASON = 10;

/** Reports refused requests: the first requests of each reason at once, and the total at the end. */
export class Refusals {
  readonly #notices: Context['notices'];
  readonly #counts = new Map<string, number>();

  constructor(notices: Context['notices']) {
    this.#notices = notices;
  }

  add({ status, reason }: Refusal): void {
    const retry = status === 503 ? '; its sender should retry' : '';
    const why = `(${status}): ${reason}${retry}`;
    const count = (this.#counts.get(why) ?? 0) + 1;
    this.#counts.set(why, count);
    if (count <= MAX_REPORTED_PER_REASON) this.#notices.warn(`refused a request ${why}`);
    if (count === MAX_REPORTED_PER_REASON)
      this.#notices.note('  further refusals for this reason are counted, and reported at the end');
  }

  /** Reports the totals of reasons with unreported requests. */
  end(): void {
    for (const [why, count] of this.#counts)
      if (count > MAX_REPORTED_PER_REASON) this.#notices.warn(`refused ${countText(count, 'request')} in all ${why}`);
  }
}

export function reportForwarded(
  { notices }: Context,
  { delivery }: ReceivedEvent,
  target: URL,
  { reason, attempts, status }: ForwardResult,
): void {
  const what = `event ${shortId(delivery.event.id)}`;
  const where = displayTarget(target);
  if (reason === undefined) return notices.debug(`${what} forwarded to ${where} (${status})`);
  const tried = attempts > 1 ? `, ${attempts} attempts` : '';
  notices.warn(`${what} did not reach ${where}: ${reason}${tried}`);
}

/** The command that sends events again. */
export interface Resend {
  /** What else it sends, and how to fill in the target, to follow a sentence. */
  readonly advice: string;
  readonly words: readonly string[];
}

/** Reports the events that did not reach a target. @returns the command that sends them again, if there is a journal */
export function reportUnprocessed(
  { notices, out }: Context,
  { target, events }: Unprocessed,
  journal?: string,
): Resend | undefined {
  const resend = journal === undefined ? '; with --journal they could be sent again' : '';
  notices.warn(`${countText(events.count, 'event')} did not reach ${displayTarget(target)}${resend}`);
  if (journal === undefined) return undefined;
  const choice = events.choice((text) => out.redact(text));
  return { advice: alsoSent(choice) + targetAdvice(target), words: replayCommand(journal, target, choice) };
}

/** Says that a choice by time may have more than what did not arrive, to follow a sentence; empty for a choice by id. */
export function alsoSent({ since }: Choice): string {
  return since === undefined ? '' : ', and with them any others since then';
}

/** Returns the command that sends events of a journal again, with `<url>` for a target that has secret parts. */
export function replayCommand(journal: string, target: URL, { ids = [], since }: Choice): readonly string[] {
  const selected = [
    ...option('--id', [...new Set(ids)]),
    ...option('--since', since === undefined ? undefined : new Date(since).toISOString()),
  ];
  return [
    'events',
    'replay',
    journal,
    '--forward-to',
    hasHiddenPart(target) ? '<url>' : displayTarget(target),
    ...selected,
  ];
}
