import { choice } from '../../cli/parameter.ts';
import { SvcError } from '../../errors.ts';
import type { Authentication } from '../../schema/three-ds/authentication.ts';

/** `--fail-on` for the outcome of an authentication. */
export const failOnParameter = choice(
  '--fail-on <class>',
  'exit with 10 when the outcome is failed or rejected (err), or anything but successful or attempted (wrn)',
  ['err', 'wrn'],
);

/** @throws SvcError `threshold` where the outcome is one that --fail-on names */
export function checkOutcome(
  id: string,
  { authentication_status: status }: Authentication,
  failOn: 'err' | 'wrn' | undefined,
): void {
  if (failOn === undefined) return;
  const isError = status === 'failed' || status === 'rejected';
  const isGood = status === 'successful' || status === 'attempted';
  if (isGood || (failOn === 'err' && !isError)) return;
  throw new SvcError('threshold', `the outcome of 3DS session ${id} meets --fail-on ${failOn}`, {
    hint: 'The lines above say what the outcome means and what to do next.',
    facts: { session: id, authentication_status: status ?? null },
  });
}
