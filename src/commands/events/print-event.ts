import type { Context } from '../../app/command.ts';
import type { Messages } from '../../output/messages.ts';
import { isUnsafe } from '../../output/text.ts';
import { displayTarget } from '../../webhooks/address.ts';
import type { ReceivedEvent } from '../../webhooks/received.ts';
import type { ListenerEvent, Unprocessed } from '../../webhooks/sinks.ts';

/** Tells on stderr what happens beside the events themselves. */
export function reportEvent({ notices }: Pick<Context, 'notices'>): (happening: ListenerEvent) => void {
  return (happening) => {
    switch (happening.kind) {
      case 'refused':
        return notices.warn(
          `a request was turned away (${happening.status}): ${happening.reason}${happening.status === 503 ? '; its sender should come again' : ''}`,
        );
      case 'forwarded':
        return reportForwarded(notices, happening);
      case 'ran':
        return reportRan(notices, happening);
      case 'said':
        return notices.note(`  ${happening.line}`);
    }
  };
}

/** Tells at the end what was not done with some of the events, and how to do it. */
export function reportUnprocessed(notices: Messages, undone: Unprocessed, journal: string | undefined): void {
  const { target, count } = undone;
  const events = `${count} event${count === 1 ? '' : 's'}`;
  if (target === undefined) return notices.warn(`the command did not succeed for ${events}`);
  const where = displayTarget(target);
  const again =
    journal === undefined
      ? 'with --journal they could be sent again'
      : `send again with '${replayCommand(journal, where, chosen(undone))}'`;
  notices.warn(`${events} did not reach ${where}; ${again}`);
}

function reportForwarded(
  notices: Messages,
  { event, target, reason, attempts, status }: Extract<ListenerEvent, { kind: 'forwarded' }>,
): void {
  const what = `event ${shownId(event)}`;
  const where = displayTarget(target);
  if (reason === undefined) return notices.debug(`${what} forwarded to ${where} (${status})`);
  notices.warn(`${what} did not reach ${where}: ${reason}${attempts > 1 ? `, ${attempts} attempts` : ''}`);
}

function reportRan(
  notices: Messages,
  { event, code, signal, problem }: Extract<ListenerEvent, { kind: 'ran' }>,
): void {
  const what = `the command for event ${shownId(event)}`;
  if (problem !== undefined) return notices.warn(`${what} did not end well: ${problem}`);
  if (signal !== undefined) return notices.warn(`${what} was ended by ${signal}`);
  if (code === 0) return notices.debug(`${what} ended with exit code 0`);
  notices.warn(`${what} ended with exit code ${code}`);
}

// An id is whatever its sender makes it.
const LONGEST_ID = 100;

function shownId({ delivery }: ReceivedEvent): string {
  const { id } = delivery.event;
  return id.length > LONGEST_ID ? `${id.slice(0, LONGEST_ID)}…` : id;
}

/** A few are chosen by their ids, many by the time from which they came. */
function chosen({ count, ids, firstAt }: Unprocessed): ReplaySelection {
  return count > ids.length || ids.some((id) => id.length > LONGEST_ID || isUnsafe(id))
    ? { since: new Date(firstAt).toISOString() }
    : { ids };
}

/** What a replay command chooses by. */
export interface ReplaySelection {
  readonly ids?: readonly string[] | undefined;
  readonly types?: readonly string[] | undefined;
  /** ISO 8601. */
  readonly since?: string | undefined;
}

/** The command that sends events of a journal again, ready to be pasted into a shell. */
export function replayCommand(
  journal: string,
  target: string,
  { ids = [], types = [], since }: ReplaySelection,
): string {
  const words = ['svc', 'events', 'replay', journal, '--forward-to', target];
  for (const id of new Set(ids)) words.push('--id', id);
  for (const type of types) words.push('--type', type);
  if (since !== undefined) words.push('--since', since);
  return words.map(quoted).join(' ');
}

function quoted(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
