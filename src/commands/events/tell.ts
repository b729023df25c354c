import type { Context } from '../../cli/context.ts';
import type { Happening } from '../../events/happening.ts';
import type { Undone } from '../../events/followers.ts';
import type { ReceivedEvent } from '../../events/received.ts';
import { shownTarget } from '../../events/target.ts';
import { isUnsafe } from '../../render/clean.ts';
import type { Notices } from '../../terminal/notices.ts';
import { type AgainChoice, replayCommand } from './again.ts';

/** Tells on stderr what happens beside the events themselves. */
export function tellHappening({ notices }: Pick<Context, 'notices'>): (happening: Happening) => void {
  return (happening) => {
    switch (happening.kind) {
      case 'refused':
        return notices.warn(
          `a request was turned away (${happening.status}): ${happening.reason}${happening.status === 503 ? '; its sender should come again' : ''}`,
        );
      case 'forwarded':
        return tellForwarded(notices, happening);
      case 'ran':
        return tellRan(notices, happening);
      case 'said':
        return notices.note(`  ${happening.line}`);
    }
  };
}

/** Tells at the end what was not done with some of the events, and how to do it. */
export function tellUndone(notices: Notices, undone: Undone, journal: string | undefined): void {
  const { target, count } = undone;
  const events = `${count} event${count === 1 ? '' : 's'}`;
  if (target === undefined) return notices.warn(`the command did not succeed for ${events}`);
  const where = shownTarget(target);
  const again =
    journal === undefined
      ? 'with --journal they could be sent again'
      : `send again with '${replayCommand(journal, where, chosen(undone))}'`;
  notices.warn(`${events} did not reach ${where}; ${again}`);
}

function tellForwarded(
  notices: Notices,
  { event, target, reason, attempts, status }: Extract<Happening, { kind: 'forwarded' }>,
): void {
  const what = `event ${shownId(event)}`;
  const where = shownTarget(target);
  if (reason === undefined) return notices.verbose(`${what} forwarded to ${where} (${status})`);
  notices.warn(`${what} did not reach ${where}: ${reason}${attempts > 1 ? `, ${attempts} attempts` : ''}`);
}

function tellRan(
  notices: Notices,
  { event, code, signal, problem }: Extract<Happening, { kind: 'ran' }>,
): void {
  const what = `the command for event ${shownId(event)}`;
  if (problem !== undefined) return notices.warn(`${what} did not end well: ${problem}`);
  if (signal !== undefined) return notices.warn(`${what} was ended by ${signal}`);
  if (code === 0) return notices.verbose(`${what} ended with exit code 0`);
  notices.warn(`${what} ended with exit code ${code}`);
}

// An id is whatever its sender makes it.
const LONGEST_ID = 100;

function shownId({ delivery }: ReceivedEvent): string {
  const { id } = delivery.event;
  return id.length > LONGEST_ID ? `${id.slice(0, LONGEST_ID)}…` : id;
}

/** A few are chosen by their ids, many by the time from which they came. */
function chosen({ count, ids, firstAt }: Undone): AgainChoice {
  return count > ids.length || ids.some((id) => id.length > LONGEST_ID || isUnsafe(id))
    ? { since: new Date(firstAt).toISOString() }
    : { ids };
}
