import { DAY_MS } from '../../schema/durations.ts';
import { type Tenant, tenantUpdateSchema, type UsageReport } from '../../schema/tenant.ts';
import { FIRST_TENANT, SANDBOX_KEYS } from '../keys.ts';
import { offsetPage, pageNumber, pageSize } from '../paging.ts';
import { checkBody } from '../problem.ts';
import { applicationId, ENTITY_KINDS, ownerId, seededLogs } from '../seed/logs.ts';
import type { ApiRoute, Call } from '../endpoint.ts';
import { type Job, jobStatus, type World } from '../state/world.ts';

const FIRST_SETTINGS = {
  fingerprint_tokens: 'true',
  disable_ephemeral_proxy: 'false',
  deduplicate_tokens: 'false',
  token_deduplication_behavior: 'read_existing',
};

const YEAR_MS = 365 * DAY_MS;

// More than two pages of the default size, so that clients must page.
const APPLICATION_COUNT = 45;

/** Endpoints of the tenant and its applications; applications are the only list paged by number. */
export const TENANT_ROUTES: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/tenants/self',
    permission: 'tenant:read',
    audit: { entityType: 'tenant', noun: 'Tenant', operation: 'read' },
    handle: ({ service }): Tenant => tenantView(service.state.world),
  },
  {
    method: 'PUT',
    path: '/tenants/self',
    permission: 'tenant:update',
    audit: { entityType: 'tenant', noun: 'Tenant', operation: 'update' },
    handle: updateTenant,
  },
  {
    method: 'DELETE',
    path: '/tenants/self',
    permission: 'tenant:delete',
    audit: { entityType: 'tenant', noun: 'Tenant', operation: 'delete' },
    status: 204,
    handle: deleteTenant,
  },
  {
    method: 'GET',
    path: '/tenants/self/reports/usage',
    permission: 'report:read',
    audit: { entityType: 'tenant', noun: 'Usage report', operation: 'read' },
    handle: ({ service, now }): UsageReport => usageReport(service.state.world, now),
  },
  {
    method: 'GET',
    path: '/applications',
    permission: 'application:read',
    audit: { entityType: 'application', noun: 'Applications', operation: 'read' },
    handle: listApplications,
  },
];

async function updateTenant({ service, key, now, json }: Call): Promise<Tenant> {
  const { name, settings } = checkBody(tenantUpdateSchema, knownMembers(await json()));
  const { application } = key;
  const event = { type: 'tenant', at: now, application, name } as const;
  return tenantView(service.state.record({ ...event, settings: settings === null ? null : { ...settings } }));
}

// Every key of a deleted tenant is refused, until the sandbox is reset.
function deleteTenant({ service, key, now }: Call): void {
  service.state.record({ type: 'tenant-deleted', at: now, application: key.application });
}

// Other members are undocumented. The sandbox ignores them, as most services do.
function knownMembers(body: unknown): object {
  if (typeof body !== 'object' || body === null) return {};
  return { ...('name' in body && { name: body.name }), ...('settings' in body && { settings: body.settings }) };
}

function tenantView({ start, tenantId, tenantChanges }: World): Tenant {
  const change = tenantChanges.at(-1);
  const { tenant = FIRST_TENANT } = start;
  return {
    id: tenantId,
    owner_id: ownerId(start.seed),
    type: start.tenantType ?? 'test',
    name: change?.name ?? (tenant > FIRST_TENANT ? `Sandbox ${tenant}` : 'Sandbox'),
    settings: change === undefined ? { ...FIRST_SETTINGS } : change.settings,
    created_by: ownerId(start.seed),
    created_at: new Date(start.at - YEAR_MS).toISOString(),
    ...(change !== undefined && {
      modified_by: applicationId(start.seed, change.application),
      modified_at: new Date(change.at).toISOString(),
    }),
  };
}

const TOKEN_TYPES = ['bank', 'card', 'token'] as const;

/** Monthly active tokens that the sandbox's plan includes. */
const INCLUDED = 1000;

const MONTH_MS = 30 * DAY_MS;

/**
 * Counts the sandbox's tokens: generated, created, and made by completed jobs. A token is active if it was logged,
 * created, or in the file of a job in this calendar month (UTC).
 */
function usageReport(world: World, now: number): UsageReport {
  const finished = world.jobs.all.filter((job) => jobStatus(job, now) === 'completed');
  return {
    token_report: {
      metrics_by_type: Object.fromEntries(TOKEN_TYPES.map((type) => [type, metricsOf(world, type, finished)])),
      included_monthly_active_tokens: INCLUDED,
      monthly_active_tokens: activeTokens(world, finished, now),
    },
  };
}

function metricsOf(world: World, type: (typeof TOKEN_TYPES)[number], finished: readonly Job[]) {
  const created = type === 'card' ? world.tokens.all : [];
  const renewed = type === 'card' ? finished.map(renewedBy) : [];
  const times = [
    world.start.at - MONTH_MS,
    ...created.map((token) => token.created.at),
    ...renewed.filter(({ count }) => count > 0).map(({ at }) => at),
  ];
  const count = (ENTITY_KINDS.find(({ value }) => value === type)?.count ?? 0) + created.length;
  return {
    count: renewed.reduce((sum, { count: made }) => sum + made, count),
    last_created_at: new Date(times.reduce((latest, time) => Math.max(latest, time))).toISOString(),
  };
}

function renewedBy({ upload, result }: Job): { count: number; at: number } {
  return { count: result?.newTokens ?? 0, at: (upload?.at ?? 0) + (upload?.processing ?? 0) };
}

function activeTokens(world: World, finished: readonly Job[], now: number): number {
  const month = new Date(now).toISOString().slice(0, 7);
  const isNow = (at: number): boolean => new Date(at).toISOString().startsWith(month);
  const active = seededActivity(world, Date.parse(month), now);
  for (const { id, created } of world.tokens.all) if (isNow(created.at)) active.add(id);
  const jobs = finished.filter((job) => isNow(renewedBy(job).at));
  for (const { result } of jobs) {
    for (const token of result?.used ?? []) active.add(token);
  }
  return jobs.reduce((sum, job) => sum + renewedBy(job).count, active.size);
}

// Reads only the latest logs, since all logs are about the same few entities.
const MAX_LOGS = 20_000;

function seededActivity({ start, tenantId }: World, from: number, now: number): Set<string> {
  const logs = seededLogs(start, tenantId);
  const active = new Set<string>();
  for (let number = Math.max(0, logs.count - MAX_LOGS); number < logs.count; number += 1) {
    const time = logs.timeOf(number);
    if (time < from || time > now) continue;
    if (TOKEN_TYPES.some((type) => type === logs.entityTypeOf(number))) active.add(logs.entityIdOf(number));
  }
  return active;
}

function listApplications({ service, query }: Call): unknown {
  const { world } = service.state;
  const applications = Array.from({ length: APPLICATION_COUNT }, (_, index) => application(world, index + 1));
  return offsetPage(applications, pageNumber(query), pageSize(query));
}

// The first applications own the sandbox's keys.
function application({ start, tenantId }: World, number: number) {
  const { seed, at } = start;
  const key = SANDBOX_KEYS.find((candidate) => candidate.application === number);
  return {
    id: applicationId(seed, number),
    tenant_id: tenantId,
    name: key?.value.replace(/^sandbox-/, 'Sandbox ').replaceAll('-', ' ') ?? `Application ${number}`,
    type: key?.kind ?? (number % 3 === 0 ? 'management' : 'private'),
    permissions: [...(key?.permissions ?? [])],
    created_by: ownerId(seed),
    created_at: new Date(at - (APPLICATION_COUNT - number + 1) * DAY_MS).toISOString(),
  };
}
