import { type FaultServer, serve, type Step } from '../../support/fault-server.ts';
import { bodyOf } from '../../support/request-reader.ts';
import { answer, json } from '../../support/fault-steps.ts';

/** A tenant as the service returns it, with a setting and a member that svc does not know. */
export const TENANT = {
  id: '4c0a2f6e-0000-4000-8000-000000000001',
  owner_id: '4c0a2f6e-0000-4000-8000-000000000002',
  type: 'test',
  name: 'Acme QA',
  settings: {
    fingerprint_tokens: 'true',
    disable_ephemeral_proxy: 'false',
    deduplicate_tokens: 'false',
    token_deduplication_behavior: 'read_existing',
    brand_new_setting: 'seven',
  },
  created_at: '2026-01-02T03:04:05Z',
  modified_at: '2026-02-02T03:04:05Z',
  plan: 'gold',
} as const;

/** A tenant of any content. */
export type AnyTenant = Record<string, unknown>;

/** The responses of the scripted service; by default they are correct. */
export interface TenantScript {
  /** The responses to GET in order, where the last one repeats. */
  readonly reads?: readonly AnyTenant[];
  /** Makes the response to PUT from its body. */
  readonly put?: (body: AnyTenant) => Step;
  readonly delete?: Step;
  /** The response to a request for the usage report. */
  readonly usage?: unknown;
}

/** Starts a service with one tenant, which ends with the test. */
export async function tenantServer(script: TenantScript = {}): Promise<FaultServer> {
  const { reads = [TENANT], put = (body) => json({ ...TENANT, ...body }), usage } = script;
  let read = 0;
  const server = await serve(({ method, path }) => {
    if (path.endsWith('/reports/usage')) return json(usage);
    if (method === 'DELETE') return script.delete ?? answer(204);
    if (method === 'PUT') return { on: 'request', act: (socket, request) => put(bodyOf(request)).act(socket, request) };
    read += 1;
    return json(reads[Math.min(read, reads.length) - 1]);
  });
  return server;
}

/** Returns the methods of the received requests, in order. */
export function methods(server: FaultServer): string {
  return server.ledger.map(({ method }) => method).join(' ');
}
