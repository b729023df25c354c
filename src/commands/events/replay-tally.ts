import type { Context } from '../../cli/context.ts';
import { isSvcError, SvcError } from '../../errors.ts';
import type { JournalEntry } from '../../events/journal.ts';
import type { Replayed } from '../../events/replay.ts';
import { shownTarget } from '../../events/target.ts';
import { isUnsafe } from '../../render/clean.ts';
import { replayCommand } from './again.ts';

const UNREADABLE_TOLD = 5;
const FAILED_KEPT = 5;

/** What was asked for. */
interface Asked {
  readonly journal: string;
  readonly id: readonly string[];
  readonly type: readonly string[];
  readonly dryRun: boolean;
}

/** What has become of the events so far. */
export interface Tally {
  sent: number;
  readonly failed: JournalEntry[];
  failedCount: number;
  redacted: number;
  unreadable: number;
  givenUp: boolean;
  last: JournalEntry | undefined;
  /** Ids that were asked for and did not turn up yet. */
  readonly missing: Set<string>;
}

/** Nothing was sent yet; these ids were asked for. */
export function nothingSent(ids: readonly string[]): Tally {
  return {
    sent: 0,
    failed: [],
    failedCount: 0,
    redacted: 0,
    unreadable: 0,
    givenUp: false,
    last: undefined,
    missing: new Set(ids),
  };
}

/** Takes in what has become of one event, and tells of lines that cannot be read. */
export function note({ notices }: Context, journal: string, replayed: Replayed, state: Tally): void {
  if (replayed.kind === 'unreadable') {
    state.unreadable += 1;
    if (state.unreadable <= UNREADABLE_TOLD)
      notices.warn(`line ${replayed.line} of ${journal} is left out: ${replayed.problem}`);
    return;
  }
  if (replayed.kind === 'given up') {
    state.givenUp = true;
    keepFailed(state, replayed.from);
    return;
  }
  const { entry, result } = replayed;
  state.missing.delete(entry.id);
  state.last = entry;
  if (entry.redacted) state.redacted += 1;
  if (result.reason === undefined) state.sent += 1;
  else {
    state.failedCount += 1;
    keepFailed(state, entry);
  }
}

function keepFailed({ failed }: Tally, entry: JournalEntry): void {
  if (failed.length <= FAILED_KEPT) failed.push(entry);
}

/** Tells at the end what has become of the events. @throws SvcError when any did not reach the target, or was not found */
export function tell({ notices }: Context, input: Asked, target: URL, state: Tally): void {
  if (state.unreadable > UNREADABLE_TOLD) notices.warn(`${state.unreadable} lines were left out in all`);
  if (state.redacted > 0)
    notices.warn(
      `${state.redacted} events went out with [hidden] or masked digits where the journal keeps nothing`,
    );
  if (state.failedCount > 0) throw failedError(input, target, state);
  if (state.missing.size > 0) {
    throw new SvcError(
      'not_found',
      `no event ${[...state.missing].join(', ')} was found in ${input.journal}`,
      {
        hint: 'Check the id, and that --type and --since do not leave it out.',
      },
    );
  }
  if (input.dryRun && state.sent > 0)
    return notices.note(`dry run: ${state.sent} would be sent to ${shownTarget(target)}, nothing was`);
  notices.note(
    state.sent === 0 ? 'no event matches: nothing was sent' : `${state.sent} sent to ${shownTarget(target)}`,
  );
}

function failedError(input: Asked, target: URL, state: Tally): SvcError {
  const { sent, failedCount, failed, givenUp } = state;
  const rest = givenUp ? '; the rest was not tried, since no answer came' : '';
  // From the first that failed on where they are many, or cannot be typed: what was sent after it is sent once more.
  const many = givenUp || failedCount > FAILED_KEPT || failed.some(({ id }) => isUnsafe(id));
  const choice = many
    ? { types: input.type, since: failed[0]?.received_at }
    : { ids: failed.map(({ id }) => id) };
  const command = replayCommand(input.journal, shownTarget(target), choice);
  return new SvcError(
    'network',
    `${failedCount} of ${sent + failedCount} events did not reach ${shownTarget(target)}${rest}`,
    {
      hint: `See that the target runs, then send them with '${command}'.`,
      facts: { sent, failed: failedCount },
    },
  );
}

/** Adds to the end of a replay that was cut short how it goes on. */
export function withContinuation(error: unknown, input: Asked, target: URL, { last, sent }: Tally): unknown {
  if (!isSvcError(error, 'hangup', 'interrupted', 'terminated', 'time_up')) return error;
  const since = last?.received_at;
  const command = replayCommand(input.journal, shownTarget(target), {
    types: input.type,
    ids: input.id,
    since,
  });
  return new SvcError(error.code, `${error.message}; ${sent} events were sent until then`, {
    hint: `Continue with '${command}'; the last event is sent once more.`,
  });
}
