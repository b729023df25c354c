import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resetSandbox } from '../../src/emulator/state/journal.ts';
import { moveClock } from '../../src/emulator/state/state.ts';
import { seedOf } from '../../src/emulator/seed/logs.ts';
import { exampleRequestFile, sandboxThreeDsCards } from '../../src/emulator/vault/cards.ts';
import type { LogPage } from '../../src/schema/log.ts';
import type { Tenant } from '../../src/schema/tenant.ts';
import type { ChallengeResult, CreatedSession } from '../../src/schema/three-ds/session.ts';
import { type Job, type JobPage, MANAGEMENT, PRIVATE, sandbox, START, upload } from './harness.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { PAYMENT, postForm } from './three-ds/three-ds-harness.ts';

const MANAGEMENT_2 = { 'svc-api-key': 'sandbox-2-management-key' };
const PRIVATE_2 = { 'svc-api-key': 'sandbox-2-private-key' };

type Sandbox = Awaited<ReturnType<typeof sandbox>>;
type Key = typeof MANAGEMENT;

const two = (options: Parameters<typeof sandbox>[0] = {}) => sandbox({ tenants: ['test', 'production'], ...options });
const tenant = (on: Sandbox, headers: Key) => on.json<Tenant>('/tenants/self', { headers });
const jobs = async (on: Sandbox, headers: Key) =>
  (await on.json<JobPage>('/account-updater/jobs', { headers })).data.map(({ id }) => id);
const createJob = (on: Sandbox, headers: Key) => on.json<Job>('/account-updater/jobs', { method: 'POST', headers });

describe('several tenants in one sandbox', () => {
  it('several tenants have ids, types, names and keys of their own', async () => {
    const on = await two();
    const [first, second] = [await tenant(on, MANAGEMENT), await tenant(on, MANAGEMENT_2)];
    expect([first.type, first.name, second.type, second.name]).toEqual(['test', 'Sandbox', 'production', 'Sandbox 2']);
    expect(on.tenants).toEqual([
      { id: first.id, type: 'test', management_key: 'sandbox-management-key', private_key: 'sandbox-private-key' },
      {
        id: second.id,
        type: 'production',
        management_key: 'sandbox-2-management-key',
        private_key: 'sandbox-2-private-key',
      },
    ]);
    expect(second.id).not.toBe(first.id);
    for (const name of ['sandbox-2-private-key-3ds-only', 'sandbox-3-management-key'])
      expect((await on.call('/tenants/self', { headers: { 'svc-api-key': name } })).status).toBe(
        name.includes('-2-') ? 403 : 401,
      );
  });

  it('a tenant that is added later has the ids of jobs of the first one, and no other files count as tenants', async () => {
    const directory = temporaryDirectory();
    await (await sandbox({ directory, jobIds: 'plain' })).close();
    mkdirSync(join(directory, 'tenants'));
    writeFileSync(join(directory, 'tenants', '.DS_Store'), '');
    const on = await two({ directory });
    for (const key of [PRIVATE, PRIVATE_2]) expect((await createJob(on, key)).id).toMatch(/^job_/);
    await on.close();
    expect((await sandbox({ directory, jobIds: 'plain' })).tenants).toHaveLength(2);
  });

  it('a key sees nothing of the other tenant: jobs, sessions, tokens, logs', async () => {
    const on = await two({ logCount: 40 });
    const job = await createJob(on, PRIVATE_2);
    expect(await jobs(on, PRIVATE_2)).toEqual([job.id]);
    expect(await jobs(on, PRIVATE)).toEqual([]);
    expect((await on.call(`/account-updater/jobs/${job.id}`, { headers: PRIVATE })).status).toBe(404);
    const token_id = sandboxThreeDsCards(seedOf(1, 2))[0]?.token;
    const session = (headers: Key) =>
      on.call('/3ds/sessions', { method: 'POST', headers, body: JSON.stringify({ token_id, type: 'customer' }) });
    expect((await session(PRIVATE_2)).status).toBe(201);
    expect((await session(PRIVATE)).status).toBe(400);
    const created: string[] = [];
    for (const headers of [MANAGEMENT, MANAGEMENT_2]) {
      const { id } = await tenant(on, headers);
      const { data } = await on.json<LogPage>('/logs?size=100', { headers });
      expect(new Set(data.map(({ tenant_id }) => tenant_id))).toEqual(new Set([id]));
      created.push(
        data
          .filter(({ message }) => message === 'Job created')
          .map(({ entity_id }) => entity_id)
          .join(),
      );
    }
    expect(created).toEqual(['', job.id]);
  });

  it('addresses without a key lead to the tenant of their id: upload, download and challenge page', async () => {
    const on = await two();
    const job = await createJob(on, PRIVATE_2);
    expect((await upload(job, exampleRequestFile(seedOf(1, 2)))).status).toBe(200);
    const done = await on.json<Job>(`/account-updater/jobs/${job.id}`, { headers: PRIVATE_2 });
    expect(await (await fetch(done.download_url)).text()).toContain('UPD_PAN');
    const card = sandboxThreeDsCards(seedOf(1, 2)).find(({ scenario }) => scenario.startsWith('Successful Challenge'));
    const call = async <Body>(path: string, body?: unknown): Promise<Body> =>
      on.json<Body>(path, {
        headers: PRIVATE_2,
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      });
    const { id } = await call<CreatedSession>('/3ds/sessions', { token_id: card?.token, type: 'customer' });
    await call(`/3ds/sessions/${id}/authenticate`, PAYMENT);
    const open = await call<ChallengeResult>(`/3ds/sessions/${id}/challenge-result`);
    await postForm(open.acs_challenge_url ?? '', { answer: 'code', code: '123456' });
    const result = await call<ChallengeResult>(`/3ds/sessions/${id}/challenge-result`);
    expect(result.authentication_status).toBe('successful');
  });

  it('several tenants share the clock of the sandbox', async () => {
    const on = await two();
    const job = await createJob(on, PRIVATE_2);
    moveClock(
      on.directory,
      () => START,
      (before) => before + 3_600_000,
    );
    expect((await on.call(`/account-updater/jobs/${job.id}`, { headers: PRIVATE_2 })).status).toBe(404);
  });

  it('a later start on the directory serves the same tenants, and a reset removes those after the first', async () => {
    const on = await two();
    const { id } = await tenant(on, MANAGEMENT_2);
    const later = await sandbox({ directory: on.directory });
    expect((await tenant(later, MANAGEMENT_2)).id).toBe(id);
    await later.close();
    await on.close();
    resetSandbox(on.directory);
    const fresh = await sandbox({ directory: on.directory });
    expect((await fresh.call('/tenants/self', { headers: MANAGEMENT_2 })).status).toBe(401);
  });

  it('deleting one tenant leaves the other', async () => {
    const on = await two();
    await on.call('/tenants/self', { method: 'DELETE', headers: MANAGEMENT_2 });
    expect((await on.call('/tenants/self', { headers: MANAGEMENT_2 })).status).toBe(401);
    expect((await on.call('/tenants/self', { headers: MANAGEMENT })).status).toBe(200);
  });

  it('the limit of test tenants counts the requests of each tenant alone', async () => {
    const on = await two({ tenants: ['test', 'test'], limits: 'on' });
    for (let count = 0; count < 50; count += 1) await tenant(on, MANAGEMENT);
    expect((await on.call('/tenants/self', { headers: MANAGEMENT })).status).toBe(429);
    expect((await on.call('/tenants/self', { headers: MANAGEMENT_2 })).status).toBe(200);
  });
});
