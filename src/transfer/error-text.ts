import type { Answer } from '../http/exchange.ts';
import { TransportFailure } from '../http/transport-failure.ts';
import { readStoreError, type StoreError } from './store-error.ts';

const MAX_ERROR_BODY = 64 * 1024;
const LONGEST_MS = 5_000;

/** Reads what an error answer says; a body that breaks off or drips says as much as had come. */
export async function readErrorOf(answer: Answer): Promise<StoreError> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const timer = setTimeout(() => answer.discard(), LONGEST_MS);
  try {
    for await (const chunk of answer.body) {
      chunks.push(chunk);
      size += chunk.byteLength;
      if (size >= MAX_ERROR_BODY) break;
    }
  } catch (error) {
    if (!(error instanceof TransportFailure)) throw error;
  } finally {
    clearTimeout(timer);
  }
  const text = Buffer.concat(chunks).subarray(0, MAX_ERROR_BODY).toString('utf8');
  return readStoreError(text, (name) => answer.header(name));
}
