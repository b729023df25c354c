import { createHash } from 'node:crypto';
import { fileSource } from '../../transfer/source.ts';
import type { LocalFile } from '../store.ts';

/** A body that can be sent again: each attempt opens it anew. */
export interface S3Body {
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  readonly isText: boolean;
  open(): string | AsyncIterable<Uint8Array>;
}

/** The body of a small text. */
export function textBody(text: string): S3Body {
  const sha256 = createHash('sha256').update(text).digest('hex');
  return { bytes: Buffer.byteLength(text), sha256, isText: true, open: () => text };
}

/** The body of a file. @throws SvcError `local` when it cannot be read */
export async function fileBody({ path, bytes, sha256 }: LocalFile): Promise<S3Body> {
  const source = await fileSource(path);
  return { bytes, sha256, isText: false, open: () => source.open() };
}
