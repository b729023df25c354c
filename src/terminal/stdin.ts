import { SvcError } from '../errors.ts';
import type { InputStream } from '../system.ts';

/** Reads standard input to its end as UTF-8. Throws `refused_input` beyond `limit` bytes. */
export async function readInput(stdin: InputStream, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin as AsyncIterable<Buffer | string>) {
    const bytes = Buffer.from(chunk);
    size += bytes.byteLength;
    if (size > limit) throw new SvcError('refused_input', `standard input is longer than ${limit} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}
