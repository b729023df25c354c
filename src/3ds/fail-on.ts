import { SvcError } from '../base/errors.ts';
import { option } from '../cli/app/hint.ts';
import { choice } from '../cli/app/parameter.ts';
import type { Authentication } from '../schema/three-ds/session.ts';
import { AUTHENTICATION_STATUSES } from '../schema/three-ds/values.ts';

/** The outcomes at which a command exits with 10, as typed. */
export type FailOn = 'err' | 'wrn' | undefined;

/** Returns the command that waits for the outcome of a session, with the same `--fail-on`. */
export function resultWords(id: string, failOn?: FailOn): string[] {
  return ['3ds', 'challenge-result', id, '--wait', ...option('--fail-on', failOn)];
}

export const failOnParameter = choice(
  '--fail-on <class>',
  'exit with 10 when it failed, was rejected or has an unknown status (err), or did not succeed (wrn)',
  ['err', 'wrn'],
);

/** Checks the outcome against `--fail-on`. @throws SvcError `threshold` */
export function checkOutcome(id: string, { authentication_status: status }: Authentication, failOn: FailOn) {
  if (failOn === undefined) return;
  const isUnknown = Boolean(status) && !AUTHENTICATION_STATUSES.some((known) => known === status);
  const isError = status === 'failed' || status === 'rejected' || isUnknown;
  const isGood = status === 'successful' || status === 'attempted';
  if (isGood || (failOn === 'err' && !isError)) return;
  throw new SvcError('threshold', `the outcome of 3DS session ${id} meets --fail-on ${failOn}`, {
    hint: 'The lines above say what it means and what to do next.',
    facts: { session: id, authentication_status: status ?? null },
  });
}
