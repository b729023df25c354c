import { flag } from './parameter.ts';

/** `--dry-run` of every command that writes. Its run function hands the value to `context.client`. */
export const dryRunParameter = flag(
  '--dry-run',
  'check everything, show the request that would change something, and do not send it',
);

/** Ends a command at a request that was shown in place of being sent. No failure: the exit code is 0. */
export class NotSent extends Error {
  override readonly name = 'NotSent';

  constructor() {
    super('the request was shown, not sent');
  }
}
