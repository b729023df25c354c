import type { Exchange } from '../routes/route.ts';
import { sendRefusal, StoreRefusal } from './refusal.ts';

/** What every path of the store begins with. */
export const STORE_PATH = '/store/';

/** Runs a handler of the store, and sends what it refuses. */
export async function serveStore(exchange: Exchange, handle: () => void | Promise<void>): Promise<void> {
  const { outgoing } = exchange;
  try {
    await handle();
  } catch (error) {
    if (outgoing.headersSent || outgoing.destroyed) outgoing.destroy();
    else sendRefusal(exchange, error instanceof StoreRefusal ? error : FAILURE);
  }
}

/** Refuses what has no address: each is signed for one method, so any other looks like an altered one. */
export function unsigned(): never {
  throw new StoreRefusal(403, 'SignatureDoesNotMatch', 'The signature does not match the request.');
}

const FAILURE = new StoreRefusal(500, 'InternalError', 'The sandbox failed. Please try again.');
