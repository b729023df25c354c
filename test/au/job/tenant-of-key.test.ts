import type { ServerResponse } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { readTenantOfKey } from '../../../src/au/job/tenant-of-key.ts';
import { openBench } from '../support.ts';

const [OURS, THEIRS] = ['tenant-a', 'tenant-b'];

/** Responses about the list of jobs and the tenant. A number is the status of a refusal. */
interface Script {
  readonly list?: number | readonly Record<string, unknown>[];
  readonly self?: number | Record<string, unknown>;
}

function job(id: string, tenant?: string): Record<string, unknown> {
  return { id, status: 'processing', ...(tenant === undefined ? {} : { tenant_id: tenant }) };
}

function send(outgoing: ServerResponse, what: unknown): void {
  if (typeof what === 'number') outgoing.writeHead(what, { 'content-type': 'text/html' }).end('<html>');
  else outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(what));
}

/** Asks a service with these responses for the tenant of its key, and returns it with the methods of the requests. */
async function told({ list = [], self = 403 }: Script) {
  const methods = new Set<string>();
  const bench = await openBench((incoming, outgoing) => {
    methods.add(incoming.method ?? '');
    const page = { pagination: { next: null, page_size: 100 }, data: list };
    if (incoming.url?.startsWith('/account-updater/jobs?')) send(outgoing, typeof list === 'number' ? list : page);
    else send(outgoing, self);
  });
  onTestFinished(() => bench.close());
  return { tenant: await readTenantOfKey(bench.client), methods: [...methods] };
}

it.each<[string, Script, string | undefined]>([
  ['the list has jobs of its tenant', { list: [job('job-9'), job('job-1', OURS)], self: { id: THEIRS } }, OURS],
  ['the tenant itself may be read', { self: { id: OURS } }, OURS],
  ['only the tenant itself may be read', { list: 403, self: { id: OURS } }, OURS],
  [
    'the list has jobs of two tenants',
    { list: [job('job-9', THEIRS), job('job-1', OURS)], self: { id: OURS } },
    undefined,
  ],
  ['the list names no tenant, and the tenant may not be read', { list: [job('job-9')] }, undefined],
  ['every path is a 404 of a gateway', { list: 404, self: 404 }, undefined],
  ['nothing may be read', { list: 403, self: 401 }, undefined],
])('R58: the tenant of a key is told by reads alone: %s', async (_, script, tenant) => {
  expect(await told(script)).toEqual({ tenant, methods: ['GET'] });
});

it('the tenant of a key is not told by a service that is out of order', async () => {
  await expect(told({ list: 503 })).rejects.toMatchObject({ code: 'server' });
});
