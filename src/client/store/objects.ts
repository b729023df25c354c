import { SvcError } from '../../base/errors.ts';
import type { LockHost } from '../../base/files/lock.ts';
import type { StoredFile } from './store.ts';

/**
 * A place for objects that are created once and never changed: a directory, or a bucket with a prefix. Names are relative
 * paths with `/`. It takes no lock: of several writers on any machines, one creates an object.
 */
export interface ObjectStore {
  /** The location in messages: the directory, or `s3://bucket/prefix`. */
  readonly name: string;
  /** Whether the response to a write showed that the bucket keeps versions. Some stores then ignore the condition. */
  readonly isVersioned?: boolean | undefined;
  /**
   * Creates an object if its name is free, and returns when it is durable. `exists` may be due to an earlier attempt of
   * this very call whose response was lost: reading the object tells.
   * @throws ReadOnlyPlace if this machine may create nothing there
   * @throws SvcError `config` if the place cannot create objects under this condition; `network`, `server` if it is not
   *   known whether the object was created
   */
  create(name: string, bytes: Uint8Array): Promise<'created' | 'exists'>;
  /** Reads an object of at most `most` bytes; undefined if there is none. @throws SvcError `checksum_mismatch` for anything else */
  read(name: string, most: number): Promise<Uint8Array | undefined>;
  /** Lists objects whose name begins with `prefix`. An object that was just created may be missing. */
  list(prefix: string): AsyncIterable<StoredFile>;
}

export interface ObjectStoreOptions {
  /** What the place contains, in the words of messages, such as `ledger`. */
  readonly noun: string;
  /**
   * The lock of this machine with which a directory without hard links may do. Without it, such a directory is refused,
   * since machines that share it could create an object twice.
   */
  readonly alone?: { readonly file: string; readonly host: LockHost } | undefined;
}

/** The error for a place in which this machine may create nothing. */
export class ReadOnlyPlace extends SvcError {}

/** Returns the error for a place that this machine may only read. `why` is what the place said. */
export function readOnlyPlace(place: string, noun: string, cause: unknown, why = ''): ReadOnlyPlace {
  const said = why === '' ? '' : ` (${why})`;
  return new ReadOnlyPlace('config', `this machine may only read the ${noun} in ${place}${said}; nothing was sent`, {
    hint: 'Allow it to create files there (in a bucket s3:PutObject, and the use of the key that encrypts it), or run the command on a machine that may.',
    cause,
  });
}

/** Returns the error for a shared directory with a part that another user made and this user may not read. */
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

/** The error for a shared directory that is not there. */
export class AbsentPlace extends SvcError {}

/** Returns the error for a shared directory that is not there. Another one in its place would not have what others wrote. */
export function absentPlace(place: string, noun: string): AbsentPlace {
  return new AbsentPlace('config', `there is no directory ${place}, which is set for the ${noun}; nothing was sent`, {
    hint: `If it is on a volume, mount it. Only if no machine has used this ${noun} yet, make the directory.`,
    facts: { path: place },
  });
}

/** Returns the error for an object that svc did not write. */
export function foreignObject(place: string, name: string, problem: string): SvcError {
  return new SvcError('checksum_mismatch', `${name} in ${place} is damaged: ${problem}`, { facts: { path: name } });
}
