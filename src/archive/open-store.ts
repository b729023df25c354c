import path from 'node:path';
import { SvcError } from '../errors.ts';
import type { Trace } from '../http/trace.ts';
import type { System } from '../system.ts';
import type { ArchiveStore } from './store.ts';

/** What opening a place needs of its process. */
export type StoreHost = Pick<
  System,
  'env' | 'platform' | 'home' | 'cwd' | 'pid' | 'isAlive' | 'clock' | 'signal'
> & {
  /** Told, once each, of what is wrong with the place and no reason to end. */
  readonly onWarning?: ((text: string) => void) | undefined;
  readonly trace?: Trace | undefined;
};

/** Opens the place of an archive, without looking at it: a directory, or `s3://bucket/prefix`. @throws SvcError `usage`; `key_missing`, `config` for a bucket */
export async function openArchiveStore(host: StoreHost, place: string): Promise<ArchiveStore> {
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(place)?.[1];
  if (scheme?.toLowerCase() === 's3') {
    const { S3Store } = await import('./s3/s3-store.ts');
    return new S3Store(place, host);
  }
  if (scheme !== undefined) {
    throw new SvcError('usage', `an archive cannot be kept at ${scheme}://`, {
      hint: 'Name a directory, or s3://bucket/prefix.',
    });
  }
  const { DirectoryStore } = await import('./directory-store.ts');
  return new DirectoryStore(path.resolve(host.cwd, place), host);
}
