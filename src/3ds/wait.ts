// Waits for the end of a challenge.

import { type ErrorDetails, isSvcError, SvcError } from '../base/errors.ts';
import { memberWithText } from '../base/json/exact.ts';
import type { Context } from '../cli/app/command.ts';
import type { Client } from '../client/api/client.ts';
import { type PollResult, pollUntil } from '../client/api/poll.ts';
import { DAY_MS, HOUR_MS } from '../schema/durations.ts';
import type { Authentication } from '../schema/three-ds/session.ts';
import { type FailOn, resultWords } from './fail-on.ts';
import { isOpen } from './outcome-lines.ts';

/** A decoupled challenge may take a week. */
const EIGHT_DAYS_MS = 8 * DAY_MS;

/**
 * Waits until the challenge of a session has an outcome: up to an hour, or eight days for a decoupled challenge. Errors name
 * the command that continues to wait.
 * @throws SvcError `pending` when the time is up, and the signal's reason
 */
export async function waitForOutcome(
  context: Context,
  client: Client,
  id: string,
  { known, failOn }: { readonly known: Authentication; readonly failOn?: FailOn },
): Promise<Authentication> {
  const shown = context.progress.waiting(`3DS session ${id}`);
  let status = known.authentication_status;
  try {
    const { seen: last, commandTimeout } = await pollUntil<Authentication>(context, {
      poll: async () => {
        const result = await resultSoFar(client, id);
        // Null means that the session shows no status; undefined means that the session could not be read.
        status = result.authentication_status ?? status ?? result.authentication_status;
        return result;
      },
      isDone: (result) => !isOpen(result),
      limitMs: () => (status === 'decoupled_challenge' ? EIGHT_DAYS_MS : HOUR_MS),
      onPoll: (result, nextMs) =>
        shown.update({ state: stateOf(result, status), nextPollAt: context.clock.now() + nextMs }),
    });
    if (isOpen(last))
      throw stillOpen(id, commandTimeout ?? new SvcError('pending', 'there is no outcome yet'), status, failOn);
    shown.done(last.authentication_status ?? undefined);
    return last;
  } catch (error) {
    shown.done();
    throw withResumeHint(error, id, status, failOn);
  }
}

/**
 * Reads the result of a challenge. While a challenge is open, the service may respond with 404. Then this returns the
 * authentication in the session, with status null if the session shows none, or `{}` if the key may not read sessions.
 * @throws SvcError `not_found` if the session does not exist either
 */
export async function resultSoFar({ threeDs }: Client, id: string): Promise<Authentication> {
  try {
    return await threeDs.challengeResult(id);
  } catch (error) {
    if (!isSvcError(error, 'not_found')) throw error;
  }
  try {
    const authentication = memberWithText(await threeDs.read(id), 'authentication');
    return authentication?.authentication_status ? authentication : { ...authentication, authentication_status: null };
  } catch (error) {
    if (isSvcError(error, 'unauthorized', 'forbidden')) return {};
    throw error;
  }
}

function stateOf(result: PollResult<Authentication>, status: Status): string {
  if (!('seen' in result)) return `no response (${result.error.message})`;
  return result.seen.authentication_status ?? (status === null ? 'no authentication shown' : 'open');
}

/** Whether the session was read and shows no authentication, as `resultSoFar` returns it. */
export function isUnshown({ authentication_status: status }: Authentication): boolean {
  return status === null;
}

type Status = Authentication['authentication_status'];

function withResumeHint(error: unknown, id: string, status: Status, failOn: FailOn): unknown {
  if (isSvcError(error, 'timeout')) return stillOpen(id, error, status, failOn);
  if (!isSvcError(error, 'hangup', 'interrupted', 'terminated')) return error;
  const message = `${error.message}; ${status === null ? UNSHOWN : 'the challenge continues without svc'}`;
  return error.with({ message, ...resumeHint(id, failOn) });
}

function stillOpen(id: string, why: SvcError, status: Status, failOn: FailOn): SvcError {
  const found =
    status === null ? `${UNSHOWN} of 3DS session ${id}` : `the challenge of 3DS session ${id} is still open`;
  return why.with({ code: 'pending', message: `${found}: ${why.message}`, ...resumeHint(id, failOn) });
}

// Says "shows no", since a session may show its authentication only when the challenge is done.
const UNSHOWN = 'the service shows no authentication';

function resumeHint(id: string, failOn: FailOn): ErrorDetails {
  return { hint: undefined, next: resultWords(id, failOn), facts: { session: id } };
}
