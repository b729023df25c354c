import type { Client } from '../../api/client.ts';
import type { Context } from '../../cli/context.ts';
import { isSvcError, SvcError } from '../../errors.ts';
import { type Glance, lookUntil } from '../../runs/look-until.ts';
import type { Authentication } from '../../schema/three-ds/authentication.ts';
import { isOpen } from '../../three-ds/outcome.ts';

const HOUR_MS = 3_600_000;
/** A decoupled challenge can be given a week. */
const EIGHT_DAYS_MS = 192 * HOUR_MS;

/**
 * Waits until the challenge of a session has an outcome: an hour, or eight days for a decoupled one.
 * @throws SvcError `pending` when the time is up; an interrupt keeps its code; both name the command that resumes
 */
export async function waitForOutcome(
  context: Context,
  client: Client,
  id: string,
  known: Authentication,
): Promise<Authentication> {
  const shown = context.progress.waiting(`3DS session ${id}`);
  let status = known.authentication_status;
  try {
    const last = await lookUntil<Authentication>({
      look: async () => {
        const result = await resultSoFar(client, id);
        status = result.authentication_status ?? status;
        return result;
      },
      isDone: (result) => !isOpen(result),
      limitMs: () => (status === 'decoupled_challenge' ? EIGHT_DAYS_MS : HOUR_MS),
      clock: context.clock,
      signal: context.signal,
      onLook: (glance, nextMs) =>
        shown.update({ state: stateOf(glance), nextLookAt: context.clock.now() + nextMs }),
    });
    if (last === undefined || isOpen(last)) throw stillOpen(id, 'there is no outcome yet');
    shown.done(last.authentication_status ?? undefined);
    return last;
  } catch (error) {
    shown.fail();
    throw withResumeHint(error, id);
  }
}

/**
 * The result of a challenge. While a challenge is open the service may respond with 404: then what the session holds
 * of the authentication, and nothing where the session may not be read.
 * @throws SvcError `not_found` where the session does not exist either
 */
export async function resultSoFar({ threeDs }: Client, id: string): Promise<Authentication> {
  try {
    return await threeDs.challengeResult(id);
  } catch (error) {
    if (!isSvcError(error, 'not_found')) throw error;
  }
  try {
    return (await threeDs.read(id)).authentication ?? {};
  } catch (error) {
    if (isSvcError(error, 'unauthorized', 'forbidden')) return {};
    throw error;
  }
}

function stateOf(glance: Glance<Authentication>): string {
  return 'seen' in glance ? (glance.seen.authentication_status ?? 'open') : `no answer (${glance.reason})`;
}

function withResumeHint(error: unknown, id: string): unknown {
  if (isSvcError(error, 'time_up')) return stillOpen(id, error.message);
  if (!isSvcError(error, 'hangup', 'interrupted', 'terminated')) return error;
  return new SvcError(error.code, `${error.message}; the challenge continues without svc`, resumeHint(id));
}

function stillOpen(id: string, why: string): SvcError {
  return new SvcError('pending', `the challenge of 3DS session ${id} is still open: ${why}`, resumeHint(id));
}

function resumeHint(id: string): { hint: string; facts: Record<string, string> } {
  return { hint: `Continue with 'svc 3ds challenge-result ${id} --wait'.`, facts: { session: id } };
}
