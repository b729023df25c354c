import type { ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Part, partOf } from '../../../src/au/run/part.ts';
import { standingOf, TenantProof, type TenantRelation } from '../../../src/au/run/tenant-proof.ts';
import { openBench } from '../support.ts';
import { recordOf } from './parts.ts';

const [OURS, THEIRS] = ['tenant-a', 'tenant-b'];

/** Responses about the recorded job, the job list and the tenant. A number is the status of a refusal. */
interface Script {
  readonly job?: number | Record<string, unknown>;
  readonly list?: number | readonly Record<string, unknown>[];
  readonly self?: number | Record<string, unknown>;
}

const PART: Part = {
  number: 1,
  first_row: 1,
  rows: 1,
  start: 50,
  end: 60,
  bytes: 60,
  sha256: 'a',
  state: 'uploaded',
  sent: 'stored',
  job: 'job-1',
};

function job(id: string, tenant?: string): Record<string, unknown> {
  return { id, status: 'processing', ...(tenant === undefined ? {} : { tenant_id: tenant }) };
}

function send(outgoing: ServerResponse, what: unknown): void {
  if (typeof what === 'number') outgoing.writeHead(what, { 'content-type': 'text/html' }).end('<html>');
  else outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(what));
}

async function proofAgainst({ job: one = 404, list = [], self = 403 }: Script) {
  const methods = new Set<string>();
  let requests = 0;
  const bench = await openBench((incoming, outgoing) => {
    methods.add(incoming.method ?? '');
    requests += 1;
    if (incoming.url?.startsWith('/account-updater/jobs?')) {
      const page = { pagination: { next: null, page_size: 100 }, data: list };
      send(outgoing, typeof list === 'number' ? list : page);
    } else send(outgoing, incoming.url === '/tenants/self' ? self : one);
  });
  onTestFinished(() => bench.close());
  const lists = (): number => bench.calls('GET', /^\/account-updater\/jobs\?/);
  return { client: bench.client, proof: new TenantProof(bench.client), methods, lists, requests: () => requests };
}

describe('whether a key belongs to the tenant of a run', () => {
  it.each<[string, Script, TenantRelation]>([
    ['its job can be read', { job: job('job-1', OURS) }, 'same'],
    ['its job can be read, and names no tenant', { job: job('job-1') }, 'same'],
    ['its job is in the list alone', { list: [job('job-9'), job('job-1')] }, 'same'],
    ['the list has other jobs of its tenant', { list: [job('job-9', OURS)] }, 'same'],
    ['the tenant itself may be read', { self: { id: OURS } }, 'same'],
    ['the list has jobs of another tenant', { list: [job('job-9', THEIRS)] }, 'other'],
    ['the tenant itself is another one', { list: 403, self: { id: THEIRS } }, 'other'],
    [
      'a job of this id belongs to another tenant, and so do those listed',
      { job: job('job-1', THEIRS), list: [job('job-9', THEIRS)] },
      'other',
    ],
    ['there is nothing but a 404', {}, 'unknown'],
    ['every path is a 404 of a gateway', { list: 404, self: 404 }, 'unknown'],
    ['nothing may be read', { job: 403, list: 403, self: 401 }, 'unknown'],
    ['the job names another tenant and nothing confirms it', { job: job('job-1', THEIRS) }, 'unknown'],
    ['the list names no tenant', { list: [job('job-9')] }, 'unknown'],
  ])('R58: the tenant of a key is told by reads alone: %s', async (_, script, relation) => {
    const { proof, methods } = await proofAgainst(script);
    expect(await proof.relationOf({ parts: [PART], tenant_id: OURS })).toBe(relation);
    expect([...methods]).toEqual(['GET']);
  });

  it('R58: once a run has shown the tenant of a key, the runs of other tenants are told without a read', async () => {
    const { proof, requests } = await proofAgainst({ job: job('job-1', OURS) });
    const other: Part = { ...PART, job: 'job-2' };
    expect(await proof.relationOf({ parts: [other], tenant_id: THEIRS })).toBe('unknown');
    expect(await proof.relationOf({ parts: [PART], tenant_id: OURS })).toBe('same');
    const before = requests();
    expect(await proof.relationOf({ parts: [other], tenant_id: THEIRS })).toBe('other');
    expect(await proof.relationOf({ parts: [other], tenant_id: OURS })).toBe('same');
    expect(requests()).toBe(before);
  });

  it.each<[string, Partial<Part>, string]>([
    ['had no file yet', { state: 'created', sent: undefined }, 'blank'],
    ['has a file in the store', {}, 'unknown'],
    [
      'has a job that failed with its file',
      { state: 'created', sent: undefined, earlier_jobs: [{ job: 'job-0', ended: 'failed' }] },
      'unknown',
    ],
  ])('R58: the tenant of a key that sees no jobs stands to a run that %s as %s', async (_, more, standing) => {
    const { client } = await proofAgainst({});
    const record = recordOf(partOf({ ...PART, ...more }));
    expect(await standingOf({ client, record })).toBe(standing);
  });

  it('R58: the tenant of a key is unknown for a run that never had a job or a tenant', async () => {
    const planned = partOf({ ...PART, job: undefined, state: 'planned' });
    const { proof } = await proofAgainst({ list: [job('job-9', OURS)] });
    expect(await proof.relationOf({ parts: [planned] })).toBe('unknown');
  });

  it('the tenant of a key is judged, and found to have no jobs, by one read of the list', async () => {
    for (const [list, isEmpty] of [[[], true] as const, [[job('job-9')], false] as const]) {
      const { proof, lists } = await proofAgainst({ list });
      expect(await proof.relationOf({ parts: [], tenant_id: OURS })).toBe('unknown');
      expect(await proof.seesNoJobs()).toBe(isEmpty);
      expect(lists()).toBe(1);
    }
  });

  it.each([
    [404, 'bad_response'],
    [403, 'forbidden'],
  ])('the tenant of a key is not taken for one without jobs by a list that is refused with %s', async (list, code) => {
    const { proof } = await proofAgainst({ list });
    await expect(proof.seesNoJobs()).rejects.toMatchObject({ code });
  });

  it('the tenant of a key is not told by a service that is out of order', async () => {
    const { proof } = await proofAgainst({ job: 503 });
    await expect(proof.relationOf({ parts: [PART], tenant_id: OURS })).rejects.toMatchObject({ code: 'server' });
  });
});
