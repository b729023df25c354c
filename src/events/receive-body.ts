import type { IncomingMessage, ServerResponse } from 'node:http';

/** The bytes of a body, or the status and the reason with which it is turned away. */
export type ReceivedBody = { readonly bytes: Buffer } | { readonly status: number; readonly reason: string };

/** Why a request counts for nothing whose sender went away before its end. */
export const BROKEN_OFF = 'it broke off';

/** Reads a body of at most `limit` bytes. One that says it is longer is turned away unread. */
export async function readBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  limit: number,
): Promise<ReceivedBody> {
  const tooLong = { status: 413, reason: `the body is longer than ${limit} bytes` };
  if (Number(incoming.headers['content-length'] ?? 0) > limit) return tooLong;
  if (incoming.headers.expect !== undefined) outgoing.writeContinue();
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else resolve(tooLong);
    });
    incoming.on('end', () => resolve({ bytes: Buffer.concat(chunks) }));
    // Nobody is left to hear of it, but the one who reads along is.
    const cutOff = (): void => resolve({ status: 400, reason: BROKEN_OFF });
    incoming.on('error', cutOff).on('close', cutOff);
  });
}
