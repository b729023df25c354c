import { describe, expect, it } from 'vitest';
import { resetSandbox } from '../../../src/emulator/state/journal.ts';
import { exampleRequestFile, sandboxCards } from '../../../src/emulator/vault/cards.ts';
import type { LogPage } from '../../../src/schema/log.ts';
import { type Tenant, usageReportSchema } from '../../../src/schema/tenant.ts';
import { MANAGEMENT, PRIVATE, problemOf, sandbox, START } from '../harness.ts';

type Sandbox = Awaited<ReturnType<typeof sandbox>>;

const put = (on: Sandbox, body: unknown, headers: Record<string, string> = MANAGEMENT) =>
  on.call('/tenants/self', { method: 'PUT', headers, body: JSON.stringify(body) });
const read = (on: Sandbox) => on.json<Tenant>('/tenants/self', { headers: MANAGEMENT });
const report = async (on: Sandbox) =>
  usageReportSchema.parse(await on.json('/tenants/self/reports/usage', { headers: MANAGEMENT })).token_report ?? {};

describe('an update of the tenant', () => {
  it('an update of the tenant replaces name and settings, keeps unknown settings, and says who did it when', async () => {
    const on = await sandbox();
    const before = await read(on);
    const settings = { fingerprint_tokens: 'false', a_setting_of_tomorrow: 'yes' };
    const answer = await put(on, { name: 'Billing', settings });
    expect(answer.status).toBe(200);
    const { modified_by, ...after } = (await answer.json()) as Tenant;
    expect(after).toEqual({ ...before, name: 'Billing', settings, modified_at: new Date(START).toISOString() });
    expect(await read(on)).toEqual({ ...after, modified_by });
    const { data } = await on.json<LogPage>('/logs?entity_type=tenant', { headers: MANAGEMENT });
    expect(data.find((log) => log.operation === 'update')).toMatchObject({ actor_id: modified_by });
    expect((await put(on, { name: 'Billing' })).status).toBe(200);
    expect((await read(on)).settings).toEqual({});
  });

  it('an update of the tenant is there for the other sandboxes of the directory, and after a restart', async () => {
    const on = await sandbox();
    const other = await sandbox({ directory: on.directory });
    await put(on, { name: 'One' });
    expect((await read(other)).name).toBe('One');
    await on.close();
    expect((await read(await sandbox({ directory: on.directory }))).name).toBe('One');
  });

  it.each([
    [{}, ['name']],
    [undefined, ['name']],
    [[], ['name']],
    [{ name: 'x'.repeat(201) }, ['name']],
    [{ name: '' }, ['name']],
    [{ name: ' \t\n' }, ['name']],
    [{ name: 7, settings: { fingerprint_tokens: true } }, ['name', 'settings.fingerprint_tokens']],
    [{ name: 'x', settings: { token_deduplication_behavior: 'sometimes' } }, ['settings.token_deduplication_behavior']],
    [{ name: 'x', settings: { other: 1 } }, ['settings.other']],
    [{ name: 'x', settings: 'none' }, ['settings']],
  ])('an update of the tenant is refused with a message for each field: %j', async (body, fields) => {
    const on = await sandbox();
    const answer = await put(on, body);
    expect(answer.status).toBe(400);
    const { errors } = await problemOf(answer);
    expect(Object.keys(errors ?? {})).toEqual(fields);
    for (const messages of Object.values(errors ?? {})) expect(messages.join()).toMatch(/\w+.*\.$/);
    expect((await read(on)).name).toBe('Sandbox');
  });

  it('an update of the tenant takes a name of 200 characters, and a whole tenant sent back', async () => {
    const on = await sandbox();
    expect((await put(on, { ...(await read(on)), name: 'x'.repeat(200) })).status).toBe(200);
  });

  it('an update of the tenant needs the permission', async () => {
    const on = await sandbox();
    const headers = { 'svc-api-key': 'sandbox-management-key-read-only' };
    expect((await put(on, { name: 'x' }, headers)).status).toBe(403);
    expect((await put(on, { name: 'x' }, PRIVATE)).status).toBe(403);
  });
});

describe('a deleted tenant', () => {
  it('a deleted tenant takes its keys and its files with it, until the sandbox is reset', async () => {
    const on = await sandbox();
    const job = await on.process(exampleRequestFile());
    const open = await on.createJob();
    const answer = await on.call('/tenants/self', { method: 'DELETE', headers: MANAGEMENT });
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    for (const [path, headers] of [
      ['/tenants/self', MANAGEMENT],
      ['/logs', MANAGEMENT],
      [`/account-updater/jobs/${job.id}`, PRIVATE],
    ] as const)
      expect([path, (await on.call(path, { headers })).status]).toEqual([path, 401]);
    expect((await on.call('/tenants/self', { method: 'DELETE', headers: MANAGEMENT })).status).toBe(401);
    expect((await fetch(job.download_url)).status).toBe(404);
    expect((await on.upload(open, exampleRequestFile())).status).toBe(403);
    const other = await sandbox({ directory: on.directory });
    expect((await other.call('/tenants/self', { headers: MANAGEMENT })).status).toBe(401);
    resetSandbox(on.directory);
    expect((await read(on)).name).toBe('Sandbox');
  });
});

describe('the usage report', () => {
  it('the usage report counts the tokens that are there, and those that jobs and requests make', async () => {
    const on = await sandbox({ logCount: 0 });
    const before = await report(on);
    expect(before).toMatchObject({
      metrics_by_type: { card: { count: sandboxCards().length }, token: { count: 400 }, bank: { count: 40 } },
      included_monthly_active_tokens: 1000,
      monthly_active_tokens: 0,
    });
    on.clock.ms += 60_000;
    await on.process(exampleRequestFile());
    const after = await report(on);
    const made = sandboxCards().filter((card) => card.new_token).length;
    expect(after.metrics_by_type?.['card']).toEqual({
      count: sandboxCards().length + made,
      last_created_at: new Date(START + 60_000).toISOString(),
    });
    expect(after.monthly_active_tokens).toBe(sandboxCards().length + made);
    on.clock.ms += 31 * 86_400_000;
    const later = await report(on);
    expect(later.metrics_by_type).toEqual(after.metrics_by_type);
    expect(later.monthly_active_tokens).toBe(0);
  });

  it('the usage report counts as active what the logs of the month are about', async () => {
    const on = await sandbox({ logCount: 3000, clock: { now: () => Date.parse('2026-03-15T12:00:00Z') } });
    const { monthly_active_tokens } = await report(on);
    expect(monthly_active_tokens).toBeGreaterThan(300);
    expect(monthly_active_tokens).toBeLessThanOrEqual(400 + 40 + sandboxCards().length);
  });
});

describe('settings of null', () => {
  it('an update takes settings of null, as the published document allows, and later reads show null', async () => {
    const on = await sandbox();
    const body = JSON.stringify({ name: 'Plain', settings: null });
    const answer = await on.call('/tenants/self', { method: 'PUT', headers: MANAGEMENT, body });
    expect([answer.status, ((await answer.json()) as Tenant).settings]).toEqual([200, null]);
    expect((await read(on)).settings).toBeNull();
  });
});

describe('features that are not enabled', () => {
  it.each([
    ['3ds', 'POST', '/3ds/sessions', '3DS'],
    ['3ds', 'GET', '/3ds/sessions/x', '3DS'],
    ['account-updater', 'POST', '/account-updater/jobs', 'Account Updater'],
    ['account-updater', 'GET', '/account-updater/jobs/x', 'Account Updater'],
  ] as const)('without %s, %s %s is refused with 403 and the reason', async (feature, method, path, name) => {
    const on = await sandbox({ without: [feature] });
    const answer = await on.call(path, { method, headers: PRIVATE });
    const { detail } = (await answer.json()) as { detail: string };
    expect([answer.status, detail]).toEqual([403, `${name} is an enterprise feature that needs access to be enabled.`]);
    expect((await on.call('/tenants/self', { headers: MANAGEMENT })).status).toBe(200);
    expect((await (await sandbox()).call('/account-updater/jobs', { headers: PRIVATE })).status).toBe(200);
  });
});

describe('the type of the tenant', () => {
  it('the type of the tenant is test, or production where the sandbox began with that', async () => {
    expect((await read(await sandbox())).type).toBe('test');
    const on = await sandbox({ tenants: ['production'], limits: 'on' });
    expect((await read(on)).type).toBe('production');
    expect((await read(await sandbox({ directory: on.directory }))).type).toBe('production');
    await expect(sandbox({ directory: on.directory, tenants: ['test'] })).rejects.toThrow('a production tenant');
    // Only test tenants have the limit of 50 requests in 10 seconds.
    for (let count = 0; count < 60; count += 1) await read(on);
    expect((await on.call('/tenants/self', { headers: MANAGEMENT })).status).toBe(200);
  });
});
