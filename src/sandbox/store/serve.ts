import { recordAudit } from '../audit.ts';
import type { Exchange } from '../routes/route.ts';
import type { Service } from '../service.ts';
import { jobOfObject } from './objects.ts';
import { sendRefusal, StoreRefusal } from './refusal.ts';

/** What every path of the store begins with. */
export const STORE_PATH = '/store/';

/** Runs a handler of the store, and sends what it refuses. */
export async function serveStore(
  service: Service,
  exchange: Exchange,
  handle: () => void | Promise<void>,
): Promise<void> {
  const { outgoing } = exchange;
  try {
    await handle();
  } catch (error) {
    if (outgoing.headersSent || outgoing.destroyed) return void outgoing.destroy();
    if (error instanceof StoreRefusal) noteRefusal(service, exchange);
    sendRefusal(exchange, error instanceof StoreRefusal ? error : FAILURE);
  }
}

/** Refuses what has no address: each is signed for one method, so any other looks like an altered one. */
export function unsigned(): never {
  throw new StoreRefusal(403, 'SignatureDoesNotMatch', 'The signature does not match the request.');
}

const FAILURE = new StoreRefusal(500, 'InternalError', 'The sandbox failed. Please try again.');

// A path that names no job of the tenant is nobody's, and leaves nothing.
function noteRefusal(service: Service, { incoming, path }: Exchange): void {
  const job = service.state.world.jobById.get(jobOfObject(path) ?? '');
  if (job === undefined || service.state.world.deleted) return;
  const [operation, message] =
    incoming.method === 'PUT'
      ? ['update', 'Request file upload refused']
      : ['read', 'Result file download refused'];
  recordAudit(service, undefined, {
    entityType: 'account_updater_job',
    entityId: job.id,
    operation,
    message,
  });
}
