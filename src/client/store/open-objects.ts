import path from 'node:path';
import { SvcError } from '../../base/errors.ts';
import type { ObjectStore, ObjectStoreOptions } from './objects.ts';
import type { StoreHost } from './store.ts';

/**
 * Opens a place for objects without reading it: a directory, or `s3://bucket/prefix`.
 * @throws SvcError `usage`; `key_missing`, `config` for a bucket
 */
export async function openObjects(
  host: Omit<StoreHost, 'bucketWork' | 'onWarning'>,
  location: string,
  options: ObjectStoreOptions,
): Promise<ObjectStore> {
  if (/^s3:/i.test(location)) {
    const { S3Objects } = await import('./s3/objects.ts');
    return new S3Objects(location, host, options);
  }
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(location))
    throw new SvcError('usage', `a ${options.noun} cannot be kept there`, {
      hint: 'Name a directory, or s3://bucket/prefix.',
    });
  const { DirectoryObjects } = await import('./directory-objects.ts');
  return new DirectoryObjects(path.resolve(host.cwd, location), options);
}
