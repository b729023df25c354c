// Messages about refused requests, forwarded events and how to send events again.

import { SvcError } from '../base/errors.ts';
import type { Context } from '../cli/app/command.ts';
import { option } from '../cli/app/hint.ts';
import { addressProblem } from '../cli/config/values.ts';
import { countText } from '../cli/output/time.ts';
import type { ReceivedEvent } from '../client/webhooks/received.ts';
import type { Refusal } from '../client/webhooks/receiver.ts';
import { displayHost, readAddress } from '../schema/address.ts';
import type { Choice, ForwardResult } from './forward.ts';
import type { Unprocessed } from './sinks.ts';
import { shortId } from './unsent.ts';

/** Reads the address of a target: https, or http on this machine. @throws SvcError `usage`, which does not show the address */
export function parseTarget(text: string): URL {
  const url = readAddress(text);
  const problem = addressProblem(url);
  if (url !== undefined && problem === undefined) return url;
  throw new SvcError('usage', problem ?? '', { hint: 'Give an address such as http://localhost:3000/webhooks.' });
}

/** Formats a target for display, with `…` for its query and for parts of its path that may be secret. */
export function displayTarget(url: URL): string {
  const path = url.pathname.split('/').map((part) => (isSecretLike(part) ? '…' : part));
  return displayHost(url) + (url.pathname === '/' ? '' : path.join('/')) + (url.search === '' ? '' : '?…');
}

// Webhook addresses of chat services end with a token, and everyone who has the token can post there.
function isSecretLike(part: string): boolean {
  return part.length >= 16 && !/^[a-z._-]+$/.test(part);
}

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
  /** How to fill in the target, from `targetAdvice`. */
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
  return { advice: targetAdvice(target), words: replayCommand(journal, target, choice) };
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

/** Returns the explanation of `<url>` in a replay command, to follow a sentence; empty if the command shows the target. */
export function targetAdvice(target: URL): string {
  return hasHiddenPart(target) ? ' (<url> is the whole target, of which parts are not shown)' : '';
}

function hasHiddenPart({ search, pathname }: URL): boolean {
  return pathname.split('/').some(isSecretLike) || search !== '';
}
