import { type CheckOptions, checkRequestFile } from '../../src/au/request/check-request-file.ts';
import type { RequestFileCheck } from '../../src/au/request/request-file.ts';

export const HEADER = 'token,expiration_year,expiration_month,merchant_id';
export const UUID = '3c1f3c0e-8d4f-4a52-9d54-08f54a2f3c01';

/** Checks a file that is given whole or in chunks. */
export function checked(
  file: string | Uint8Array | Iterable<Uint8Array>,
  options: CheckOptions = {},
): Promise<RequestFileCheck> {
  if (typeof file === 'string') return checkRequestFile(stream([Buffer.from(file)]), options);
  return checkRequestFile(stream(file instanceof Uint8Array ? [file] : file), options);
}

/** Yields each chunk in memory that is overwritten afterwards, as a reader may do. */
export async function* stream(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for (const chunk of chunks) {
    const lent = Uint8Array.from(chunk);
    yield lent;
    lent.fill(0x58);
  }
}

/** Yields `bytes` in chunks of `size`. */
export function* inChunks(bytes: Uint8Array, size: number): Generator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
