import { createHash } from 'node:crypto';

/** SHA-256 of bytes or of a text's bytes, hexadecimal. */
export function sha256Of(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex');
}

/** SHA-256 of all that comes, hexadecimal. */
export async function sha256OfAll(source: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of source) hash.update(piece);
  return hash.digest('hex');
}
