import { SvcError } from '../base/errors.ts';
import type { Authentication } from '../schema/three-ds/session.ts';

/** The expected result of a test scenario for 3-D Secure, and the result that the service gave. */
interface ScenarioOutcome {
  readonly expected: string | null;
  readonly expected_reason: string | null;
  readonly got: string;
  readonly reason: string | null;
  readonly session: string | null;
}

/** The error for a scenario with another outcome than expected. */
export function unexpectedOutcome({ expected, expected_reason, got, reason, session }: ScenarioOutcome): SvcError {
  const [wanted, found] = [expected_reason, reason].map((one) => (one === null ? '' : ` (${one})`));
  return new SvcError('threshold', `expected ${expected ?? 'any status'}${wanted}, got ${got}${found}`, {
    next: ['3ds', 'show', session ?? '<session>'],
    facts: { expected, expected_reason, got, reason, session },
  });
}

/** The error for a challenge without an outcome, where any outcome was to be shown. */
export function challengeOpen({ got, session }: Pick<ScenarioOutcome, 'got' | 'session'>): SvcError {
  return new SvcError('pending', `the challenge is still open (${got})`, {
    hint: 'Complete it, then read the outcome.',
    next: ['3ds', 'challenge-result', session ?? '<session>', '--wait'],
    facts: { session },
  });
}

/** The error for a suite with failed scenarios. */
export function scenariosFailed(passed: number, failed: readonly Pick<ScenarioOutcome, 'session'>[]): SvcError {
  const session = failed.find((one) => one.session !== null)?.session;
  return new SvcError('threshold', `${passed} passed, ${failed.length} failed`, {
    ...(session && { hint: 'The session of a failed scenario has the details.', next: ['3ds', 'show', session] }),
    facts: { passed, failed: failed.length },
  });
}

/** The error for an outcome that `--fail-on` names. */
export function outcomeFails(id: string, status: Authentication['authentication_status'], failOn: string): SvcError {
  return new SvcError('threshold', `the outcome of 3DS session ${id} meets --fail-on ${failOn}`, {
    hint: 'The lines above say what it means and what to do next.',
    facts: { session: id, authentication_status: status ?? null },
  });
}
