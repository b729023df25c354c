// Reports forwarded, refused and unsent events.

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

/** Reads an address that events may go to: https, or http on this machine. @throws SvcError `usage`, without the address */
export function parseTarget(text: string): URL {
  const url = readAddress(text);
  const problem = addressProblem(url);
  if (url !== undefined && problem === undefined) return url;
  throw new SvcError('usage', problem ?? '', { hint: 'Give an address such as http://localhost:3000/webhooks.' });
}

/** Formats a target for display. Its query, and parts of its path that may be a secret, are shown as `…`. */
export function displayTarget(url: URL): string {
  const path = url.pathname.split('/').map((part) => (isSecretLike(part) ? '…' : part));
  return displayHost(url) + (url.pathname === '/' ? '' : path.join('/')) + (url.search === '' ? '' : '?…');
}

// Addresses of chat services end with a token in their path, and whoever has it can post there.
function isSecretLike(part: string): boolean {
  return part.length >= 16 && !/^[a-z._-]+$/.test(part);
}

/** The refused requests with one reason that are each reported. Anybody can send any number. */
const MOST_REPORTED = 10;

/** Reports refused requests: the first ones of each reason as they come, the number of all at the end. */
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
    if (count <= MOST_REPORTED) this.#notices.warn(`refused a request ${why}`);
    if (count === MOST_REPORTED)
      this.#notices.note('  further refusals for this reason are counted, and reported at the end');
  }

  /** Reports the counts of reasons that were not reported each time. */
  end(): void {
    for (const [why, count] of this.#counts)
      if (count > MOST_REPORTED) this.#notices.warn(`refused ${countText(count, 'request')} in all ${why}`);
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

/** The command that sends events again, and how to fill in its target (`targetAdvice`). */
export interface Resend {
  readonly advice: string;
  readonly words: readonly string[];
}

/** Reports at the end which events did not reach a target. @returns how to send them again, where that is possible */
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

/** The words of the command that sends events of a journal again. A target with hidden parts is printed as `<url>`. */
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

/** Returns how to fill in the target of a replay command, to follow a sentence; empty if the command has the target. */
export function targetAdvice(target: URL): string {
  return hasHiddenPart(target) ? ' (<url> is the whole target, of which parts are not shown)' : '';
}

function hasHiddenPart({ search, pathname }: URL): boolean {
  return pathname.split('/').some(isSecretLike) || search !== '';
}
