import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ENTITY_TYPES } from '../../../src/cli/config/cache.ts';
import { statePaths } from '../../../src/emulator/state/journal.ts';
import { SandboxState } from '../../../src/emulator/state/state.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import type { EntityType, Log } from '../../../src/schema/log.ts';
import type { Tenant } from '../../../src/schema/tenant.ts';
import { type JobPage, MANAGEMENT, PRIVATE, problemOf, sandbox, START } from '../harness.ts';
import { page, requests, walk, withoutReads } from './walk-logs.ts';

const HOUR = 3_600_000;

const isoTime = (ms: number) => new Date(ms).toISOString();

const times = (logs: readonly Log[]) => logs.map((log) => Date.parse(log.created_at));

describe('logs', () => {
  it('logs can leave reads of the logs out of the logs, so that pages do not shift', async () => {
    const on = await sandbox({ logCount: 50, auditReads: false });
    const all = await walk(on, 100);
    expect(await walk(on, 100)).toEqual(all);
    await on.call('/logs/entity-types', { headers: MANAGEMENT });
    await on.call('/tenants/self', { headers: MANAGEMENT });
    expect(await walk(on, 100)).toEqual([expect.objectContaining({ message: 'Tenant read' }), ...all]);
  });

  it('logs have entity types of letters and underscores, every one of them listed', async () => {
    const on = await sandbox({ logCount: 500 });
    const types = await on.json<EntityType[]>('/logs/entity-types', { headers: MANAGEMENT });
    for (const { value, display_name } of types) {
      expect(value).toMatch(/^[A-z]+$/);
      expect(display_name).toMatch(/^[A-z]+$/);
    }
    const used = new Set((await walk(on, 100)).map((log) => log.entity_type));
    expect([...used].filter((type) => !types.some(({ value }) => value === type))).toEqual([]);
  });

  it('the list of logs continues where it was while requests add logs', async () => {
    const on = await sandbox({ logCount: 50 });
    await on.call('/tenants/self', { headers: MANAGEMENT });
    const all = await walk(on, 100);
    const before = requests(on);
    const seen: Log[] = [];
    for (let start: string | undefined, more = true; more;) {
      const { pagination, data } = await page(on, { size: '7', ...(start && { start }) });
      seen.push(...data);
      start = pagination?.next ?? undefined;
      more = start !== undefined;
      await on.call('/tenants/self', { headers: MANAGEMENT });
    }
    expect(seen).toHaveLength(50 + before);
    expect(withoutReads(seen)).toEqual(all);
  });

  it('the list of logs lists newest first, in whole seconds, over the last day, with equal twins among them', async () => {
    const logs = await walk(await sandbox({ logCount: 2000 }), 100);
    const at = times(logs);
    expect(at).toEqual(at.toSorted((a, b) => b - a));
    expect(at.every((time) => time % 1000 === 0)).toBe(true);
    expect(at[0]).toBeLessThanOrEqual(START);
    expect(at[0]).toBeGreaterThan(START - 5 * 60_000);
    expect(at.at(-1)).toBeLessThan(START - 23 * 3_600_000);
    expect(new Set(logs.map((log) => JSON.stringify(log))).size).toBeLessThan(logs.length);
    expect(new Set(at).size).toBeLessThan(logs.length);
    expect(new Set(logs.map((log) => log.entity_type))).toEqual(new Set([...ENTITY_TYPES, 'webhook']));
    expect(logs.some((log) => log.actor_id === undefined)).toBe(true);
  });

  it('the list of logs makes the same logs of the same seed, and others of another', async () => {
    const [one, same, other] = await Promise.all(
      [7, 7, 8].map(async (seed) => walk(await sandbox({ seed, logCount: 40 }), 100)),
    );
    expect(one).toEqual(same);
    expect(one).not.toEqual(other);
  });

  it('the list of logs filters by type, by entity, and by a half-open window of time', async () => {
    const on = await sandbox({ logCount: 400 });
    const all = await walk(on, 100);
    for (const type of ENTITY_TYPES)
      expect(await walk(on, 30, { entity_type: type })).toEqual(all.filter((log) => log.entity_type === type));
    const { entity_type, entity_id } = all.find((log) => log.entity_type === 'card')!;
    const about = await walk(on, 30, { entity_type: entity_type!, entity_id: entity_id! });
    expect(about).toEqual(all.filter((log) => log.entity_id === entity_id));
    expect(about.length).toBeGreaterThan(0);
    const [from, to] = [all[300]!.created_at, all[100]!.created_at];
    expect(await walk(on, 30, { start_date: from, end_date: to })).toEqual(
      all.filter((log) => log.created_at >= from && log.created_at < to),
    );
    expect(await walk(on, 30, { entity_type: 'nothing' })).toEqual([]);
  });

  it('the list of logs forgets logs after 24 hours', async () => {
    const on = await sandbox({ logCount: 200 });
    const all = await walk(on, 100);
    on.clock.ms += 12 * 3_600_000;
    const left = await walk(on, 100);
    expect(withoutReads(left)).toEqual(all.filter((log) => Date.parse(log.created_at) >= START - 12 * 3_600_000));
    on.clock.ms += 12 * 3_600_000 + 1000;
    expect(withoutReads(await walk(on, 100))).toEqual([]);
  });

  it('the list of logs ends with a null cursor also when the last page is full, and is empty without logs', async () => {
    const full = await page(await sandbox({ logCount: 20 }), {});
    expect(full.data).toHaveLength(20);
    expect(full.pagination).toEqual({ next: null, page_size: 20 });
    expect(await page(await sandbox({ logCount: 0 }), {})).toEqual({
      pagination: { next: null, page_size: 20 },
      data: [],
    });
  });

  it('the list of logs refuses cursors that are not sent byte for byte', async () => {
    const on = await sandbox({ logCount: 30, cursors: 'any' });
    const next = (await page(on, { size: '5' })).pagination!.next!;
    const status = async (start: string) => (await on.call(`/logs?start=${start}`, { headers: MANAGEMENT })).status;
    expect(await status(encodeURIComponent(next))).toBe(200);
    expect(await status(next)).toBe(400);
    expect(await status(encodeURIComponent(`${next}x`))).toBe(400);
    expect(await status(encodeURIComponent(next.slice(0, -3)))).toBe(400);
    expect(await status('garbage')).toBe(400);
    const jobs = await on.json<JobPage>('/account-updater/jobs', { headers: { 'svc-api-key': 'sandbox-private-key' } });
    expect(jobs.pagination.next).toBeNull();
  });

  it('the list of logs goes oldest first where that is requested, through the same logs', async () => {
    const on = await sandbox({ logCount: 131, auditReads: false });
    await on.createJob();
    const newest = await walk(on, 100);
    const other = await sandbox({ directory: on.directory, logCount: 131, order: 'asc', auditReads: false });
    for (const size of [100, 33, 7]) expect(await walk(other, size)).toEqual(newest.toReversed());
    const [start_date, end_date] = [isoTime(START - 20 * HOUR), isoTime(START - 3 * HOUR)];
    const window = { start_date, end_date, entity_type: 'card' };
    const cards = await walk(on, 100, window);
    expect(cards.length).toBeGreaterThan(5);
    expect(await walk(other, 7, window)).toEqual(cards.toReversed());
  });

  it('the list of logs, oldest first, reaches logs that are added while it is read, each once', async () => {
    const on = await sandbox({ logCount: 20, order: 'asc', cursors: 'any' });
    const first = await page(on, { size: '15' });
    await on.createJob();
    const rest = await page(on, { size: '100', start: first.pagination?.next ?? '' });
    expect(rest.data.map(({ message }) => message).slice(-2)).toEqual(['Logs read', 'Job created']);
    expect(first.data.length + rest.data.length).toBe(22);
  });

  it('the list of logs refuses a date that is not in the calendar', async () => {
    const on = await sandbox({ logCount: 50 });
    const status = async (date: string) =>
      (await on.call(`/logs?start_date=${encodeURIComponent(date)}`, { headers: MANAGEMENT })).status;
    for (const date of ['2026-02-30', '2026-02-29T10:00:00Z', '2026-04-31', '2026-13-01', '2026-00-10'])
      expect({ date, status: await status(date) }).toEqual({ date, status: 400 });
    for (const date of ['2026-02-28', '2028-02-29', '2026-04-30T23:59:59+02:00'])
      expect({ date, status: await status(date) }).toEqual({ date, status: 200 });
  });

  it('the list of logs reads a time without an offset as UTC, in any time zone', async () => {
    vi.stubEnv('TZ', 'Asia/Tokyo');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(new Date(START).getTimezoneOffset()).toBe(-540);
    const on = await sandbox({ logCount: 50, auditReads: false });
    const from = isoTime(START - 3 * HOUR);
    const expected = await walk(on, 100, { start_date: from });
    expect(await walk(on, 100, { start_date: from.replace('Z', '') })).toHaveLength(expected.length);
  });

  it('the list of logs refuses a cursor of the other order', async () => {
    const on = await sandbox({ logCount: 50 });
    const { pagination } = await page(on, { size: '10' });
    const other = await sandbox({ directory: on.directory, logCount: 50, order: 'asc' });
    const query = new URLSearchParams({ size: '10', start: pagination?.next ?? '' }).toString();
    expect((await other.call(`/logs?${query}`, { headers: MANAGEMENT })).status).toBe(400);
  });

  it('a strict cursor fits only its list, filters and page size, and another request gets a 400 about start', async () => {
    const on = await sandbox({ logCount: 200, cursors: 'strict' });
    await on.createJob();
    await on.createJob();
    const filters = { entity_type: 'card', end_date: isoTime(START) };
    const { pagination } = await page(on, { ...filters, size: '20' });
    const start = pagination?.next ?? '';
    const get = async (path: string, query: Record<string, string>, headers = MANAGEMENT) => {
      const answer = await on.call(`${path}?${new URLSearchParams({ ...query, start }).toString()}`, { headers });
      return [answer.status, Object.keys((await problemOf(answer)).errors ?? {})];
    };
    expect(await get('/logs', { ...filters, size: '20' })).toEqual([200, []]);
    expect(await get('/logs', { ...filters, entity_id: '' })).toEqual([200, []]);
    for (const query of [{ ...filters, size: '21' }, { entity_type: 'card' }, { ...filters, entity_type: 'token' }])
      expect(await get('/logs', query)).toEqual([400, ['start']]);
    expect(await get('/account-updater/jobs', {}, PRIVATE)).toEqual([400, ['start']]);
    const jobs = await on.json<JobPage>('/account-updater/jobs?size=1', { headers: PRIVATE });
    const next = encodeURIComponent(jobs.pagination.next ?? '');
    const status = async (size: number) =>
      (await on.call(`/account-updater/jobs?size=${size}&start=${next}`, { headers: PRIVATE })).status;
    expect([await status(1), await status(2)]).toEqual([200, 400]);
  });

  it('the list of logs names the parameter that is wrong', async () => {
    const on = await sandbox();
    const wrong = { size: ['0', '101', '1.5', 'x', ''], start_date: ['yesterday', '2026-13-01'] };
    for (const [name, values] of Object.entries(wrong))
      for (const value of values) {
        const answer = await on.call(`/logs?${name}=${value}`, { headers: MANAGEMENT });
        expect([name, value, answer.status]).toEqual([name, value, 400]);
        expect(Object.keys((await problemOf(answer)).errors ?? {})).toEqual([name]);
      }
  });

  it('the list of logs records what is asked of the sandbox, under the application of the key', async () => {
    const on = await sandbox({ logCount: 5 });
    const tenant = await on.json<Tenant>('/tenants/self', { headers: MANAGEMENT });
    const job = await on.createJob();
    const { data } = await page(on, { size: '2' });
    expect(data).toMatchObject([
      { entity_type: 'account_updater_job', entity_id: job.id, operation: 'create', actor_id: job.created_by },
      { entity_type: 'tenant', entity_id: tenant.id, operation: 'read', actor_type: 'application' },
    ]);
  });

  it('the list of logs has a log for every request with a known key, lists, downloads and refusals among them', async () => {
    const on = await sandbox({ logCount: 0, limits: 'on' });
    const job = await on.process(exampleRequestFile());
    await fetch(job.download_url);
    await fetch(`${job.download_url}x`);
    await on.call('/account-updater/jobs', { headers: PRIVATE });
    await on.call('/account-updater/jobs/nobody', { headers: PRIVATE });
    await on.call('/logs?size=0', { headers: MANAGEMENT });
    await on.call('/logs/entity-types', { headers: MANAGEMENT });
    await on.call('/tenants/self', { headers: { 'svc-api-key': 'sandbox-management-key-logs-only' } });
    await on.call('/tenants/self/reports/usage', { headers: MANAGEMENT });
    await on.call('/logs', { headers: { 'svc-api-key': 'guess' } });
    await on.call('/logs');
    for (let count = 0; count < 7; count += 1) await on.call('/account-updater/jobs', { headers: PRIVATE });
    const logs = await walk(on, 100);
    expect(logs.map(({ operation, message }) => `${operation}: ${message}`).toReversed()).toEqual([
      'create: Job created',
      'update: Request file uploaded',
      'read: Job read',
      'read: Result file downloaded',
      'read: Result file download refused',
      'read: Jobs read',
      'read: Job read refused',
      'read: Logs read refused',
      'read: Entity types read',
      'read: Tenant read refused',
      'read: Usage report read',
      ...Array<string>(6).fill('read: Jobs read'),
      'read: Jobs read refused',
    ]);
    expect(logs.find((log) => log.message === 'Job read refused')?.entity_id).toBe('nobody');
    expect(await walk(on, 100)).toHaveLength(logs.length + 1);
  });

  it('the list of logs lists newest first although processes write out of turn, and holds what a clock set back left ahead', async () => {
    const on = await sandbox({ logCount: 100 });
    const state = new SandboxState(statePaths(on.directory), {}, () => START);
    const add = (at: number, message: string) =>
      state.record({ type: 'audit', at, entityType: 'token', entityId: 'x', operation: 'read', message });
    add(START + 2000, 'second');
    add(START + 1000, 'late');
    const late = times(await walk(on, 100));
    expect(late).toEqual(late.toSorted((a, b) => b - a));
    add(START + 3 * 86_400_000, 'ahead');
    add(START + 1000, 'back');
    state.close();
    const found = (await walk(on, 7)).map((log) => log.message);
    expect(found.filter((text) => /^(second|late|ahead|back)$/.test(text ?? ''))).toEqual([
      'back',
      'ahead',
      'late',
      'second',
    ]);
    expect((await page(on, { start_date: new Date(START + 86_400_000).toISOString() })).data).toMatchObject([
      { message: 'ahead' },
    ]);
  });

  it('the list of logs makes only the logs of the page that it serves', async () => {
    // So large a log would not fit in memory.
    const on = await sandbox({ logCount: 1_000_000_000 });
    await page(on, { size: '100' });
    const middle = new Date(START - 12 * 3_600_000).toISOString();
    const { data } = await page(on, { size: '100', end_date: middle });
    expect(data).toHaveLength(100);
  });
});
