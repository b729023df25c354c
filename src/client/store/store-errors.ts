// The errors of stores.

import { SvcError } from '../../base/errors.ts';
import type { StoreContent } from './store.ts';

/** Returns the error for a file whose content svc did not write. */
export function damagedFile(
  file: string,
  problem: string,
  { damageHint: hint }: Pick<StoreContent, 'damageHint'> = {},
): SvcError {
  return new SvcError('checksum_mismatch', `${file} is damaged: ${problem}`, { hint, facts: { path: file } });
}

export class ReadOnlyPlace extends SvcError {}

/** Returns the error for a place that this machine may only read. `why` is the response of the place. */
export function readOnlyPlace(place: string, noun: string, cause: unknown, why = ''): ReadOnlyPlace {
  const said = why === '' ? '' : ` (${why})`;
  return new ReadOnlyPlace('config', `this machine may only read the ${noun} in ${place}${said}; nothing was sent`, {
    hint: 'Allow it to create files there (in a bucket s3:PutObject, and the use of the key that encrypts it), or run the command on a machine that may.',
    cause,
  });
}

/** Returns the error for a shared directory with a part that another user created and this user may not read. */
export function closedPlace(place: string, noun: string, name: string, cause: unknown): SvcError {
  return new SvcError(
    'config',
    `this user may not read the ${noun} in ${place}: ${name === '' ? 'the directory' : name} is closed to it`,
    {
      hint: 'Let its owner open all of the directory to those who share it, for example with chmod -R g+rwX,g+s.',
      facts: { path: name },
      cause,
    },
  );
}

/** Returns the error for a missing shared directory. svc does not create it: the files of other machines would be missing. */
export function absentPlace(place: string, noun: string): SvcError {
  return new SvcError('config', `there is no directory ${place}, which is set for the ${noun}; nothing was sent`, {
    hint: `If it is on a volume, mount it. Only if no machine has used this ${noun} yet, make the directory.`,
    facts: { path: place },
  });
}
