import type { Client } from '../../api/client.ts';
import type { Context } from '../../cli/context.ts';
import { isSvcError, SvcError } from '../../errors.ts';
import { type Glance, lookUntil } from '../../runs/look-until.ts';
import type { ChallengeResult } from '../../schema/three-ds/authentication.ts';
import { isOpen } from '../../three-ds/outcome.ts';

const HOUR_MS = 3_600_000;
/** A decoupled challenge can be given a week. */
const EIGHT_DAYS_MS = 192 * HOUR_MS;

/**
 * Waits until the challenge of a session has an outcome: an hour, or eight days for a decoupled one.
 * @throws SvcError `pending` when the time is up; an interrupt keeps its code; both name the command that goes on
 */
export async function waitForOutcome(context: Context, client: Client, id: string): Promise<ChallengeResult> {
  const shown = context.progress.waiting(`3DS session ${id}`);
  try {
    const last = await lookUntil<ChallengeResult>({
      look: () => client.threeDs.challengeResult(id),
      isDone: (result) => !isOpen(result),
      limitMs: (result) =>
        result?.authentication_status === 'decoupled_challenge' ? EIGHT_DAYS_MS : HOUR_MS,
      clock: context.clock,
      signal: context.signal,
      onLook: (glance, nextMs) =>
        shown.update({ state: stateOf(glance), nextLookAt: context.clock.now() + nextMs }),
    });
    if (last === undefined || isOpen(last)) throw stillOpen(id, 'there is no outcome yet');
    shown.done(last.authentication_status);
    return last;
  } catch (error) {
    shown.fail();
    throw withGoingOn(error, id);
  }
}

function stateOf(glance: Glance<ChallengeResult>): string {
  return 'seen' in glance ? (glance.seen.authentication_status ?? 'open') : `no answer (${glance.reason})`;
}

function withGoingOn(error: unknown, id: string): unknown {
  if (isSvcError(error, 'time_up')) return stillOpen(id, error.message);
  if (!isSvcError(error, 'hangup', 'interrupted', 'terminated')) return error;
  return new SvcError(error.code, `${error.message}; the challenge goes on without us`, goingOn(id));
}

function stillOpen(id: string, why: string): SvcError {
  return new SvcError('pending', `the challenge of 3DS session ${id} is still open: ${why}`, goingOn(id));
}

function goingOn(id: string): { hint: string; facts: Record<string, string> } {
  return { hint: `Continue with 'svc 3ds challenge-result ${id} --wait'.`, facts: { session: id } };
}
