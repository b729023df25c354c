import { TransportFailure } from './transport-failure.ts';

/** The bytes of a body; `complete` is false when there was more. */
export interface ReadBody {
  readonly bytes: Buffer;
  readonly complete: boolean;
}

/** Reads no further than `limit` bytes. What is left of the body is dropped with its connection. */
export function readUpTo(body: AsyncIterable<Uint8Array>, limit: number): Promise<ReadBody> {
  return gather(body, limit, () => false);
}

/** The same, but a body that breaks off or falls silent gives what came until then. */
export function readWhatComes(body: AsyncIterable<Uint8Array>, limit: number): Promise<ReadBody> {
  return gather(body, limit, (error) => error instanceof TransportFailure);
}

async function gather(
  body: AsyncIterable<Uint8Array>,
  limit: number,
  isEnough: (error: unknown) => boolean,
): Promise<ReadBody> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let complete = true;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.byteLength;
      complete = size <= limit;
      if (!complete) break;
    }
  } catch (error) {
    if (!isEnough(error)) throw error;
    complete = false;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, limit), complete };
}
