// Opens the store at a location.

import path from 'node:path';
import { SvcError } from '../../base/errors.ts';
import type { Store, StoreContent, StoreHost } from './store.ts';

/**
 * Opens a store without reading it: a directory, or `s3://bucket/prefix`.
 * @throws SvcError `usage`; `key_missing`, `config` for a bucket
 */
export async function openStore(host: StoreHost, location: string, content: StoreContent): Promise<Store> {
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(location)?.[1];
  if (scheme?.toLowerCase() === 's3') {
    const { S3Store } = await import('./s3/store.ts');
    return new S3Store(location, host, content);
  }
  if (/^s3:/i.test(location))
    throw new SvcError('usage', 'a bucket is written as s3://bucket/prefix, with two slashes', {
      hint: 'For a directory of this name, put ./ before it.',
    });
  if (scheme !== undefined)
    throw new SvcError('usage', `the ${content.noun} cannot be kept at ${scheme}://`, {
      hint: 'Name a directory, or s3://bucket/prefix.',
    });
  const { DirectoryStore } = await import('./directory-store.ts');
  return new DirectoryStore(path.resolve(host.cwd, location), host, content);
}
