import { SvcError } from '../../base/errors.ts';
import type { InputStream } from '../../base/system.ts';

/** Reads standard input to its end. Throws `refused_input` beyond `limit` bytes. */
export async function readInput(stdin: InputStream, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin as AsyncIterable<Buffer | string>) {
    const bytes = Buffer.from(chunk);
    size += bytes.byteLength;
    if (size > limit) throw new SvcError('refused_input', `standard input is longer than ${limit} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}
