// The body of a request to a bucket, with its hashes.

import { createHash, getFips, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { sha256Of } from '../../../base/files/draft.ts';
import { fileSource } from '../../transfer/source.ts';
import { isLocalFile, type LocalFile } from '../store.ts';

/** A request body that each attempt can open again. */
export interface S3Body {
  readonly bytes: number;
  /** The SHA-256 in hexadecimal. */
  readonly sha256: string;
  /** The MD5 in base64, which a bucket with Object Lock requires; undefined in FIPS mode, which allows no MD5. */
  readonly md5: string | undefined;
  readonly isText: boolean;
  open(): string | AsyncIterable<Uint8Array>;
}

/** Returns content as a body. @throws SvcError `local` if a file cannot be read */
export async function bodyOf(content: LocalFile | Uint8Array | string): Promise<S3Body> {
  if (isLocalFile(content)) return fileBody(content);
  const bytes = Buffer.from(content);
  return {
    bytes: bytes.byteLength,
    sha256: sha256Of(bytes),
    md5: md5Hash()?.update(bytes).digest('base64'),
    isText: typeof content === 'string',
    open: () => (typeof content === 'string' ? content : Readable.from([content])),
  };
}

async function fileBody({ path, bytes, sha256 }: LocalFile): Promise<S3Body> {
  const source = await fileSource(path);
  const hash = md5Hash();
  if (hash) for await (const piece of source.open()) hash.update(piece);
  return { bytes, sha256, md5: hash?.digest('base64'), isText: false, open: () => source.open() };
}

function md5Hash(): Hash | undefined {
  return getFips() === 1 ? undefined : createHash('md5');
}
