import type { UsageReport } from '../../schema/usage.ts';
import { ENTITY_KINDS } from '../seed/entities.ts';
import { seededLogs } from '../seed/logs.ts';
import { jobStatus } from '../state/job-status.ts';
import type { Job, World } from '../state/world.ts';
import { isoTime } from '../time.ts';

const TOKEN_TYPES = ['bank', 'card', 'token'] as const;

/** Monthly active tokens that the sandbox's plan includes. */
const INCLUDED = 1000;

const MONTH_MS = 30 * 24 * 3_600_000;

/**
 * Counts the sandbox's tokens: those that it began with, those that were created, and those that finished jobs made.
 * Active is what a log of this calendar month (UTC) is about, what was made in it, and what a job was asked about.
 */
export function usageReport(world: World, now: number): UsageReport {
  const finished = world.jobs.filter((job) => jobStatus(job, now) === 'completed');
  return {
    token_report: {
      metrics_by_type: Object.fromEntries(
        TOKEN_TYPES.map((type) => [type, metricsOf(world, type, finished)]),
      ),
      included_monthly_active_tokens: INCLUDED,
      monthly_active_tokens: activeTokens(world, finished, now),
    },
  };
}

function metricsOf(
  world: World,
  type: (typeof TOKEN_TYPES)[number],
  finished: readonly Job[],
): { count: number; last_created_at: string } {
  const created = type === 'card' ? world.tokens.all() : [];
  const renewed = type === 'card' ? finished.map(renewedBy) : [];
  const times = [
    world.start.at - MONTH_MS,
    ...created.map((token) => token.created.at),
    ...renewed.filter(({ count }) => count > 0).map(({ at }) => at),
  ];
  const count = (ENTITY_KINDS.find(({ value }) => value === type)?.count ?? 0) + created.length;
  return {
    count: renewed.reduce((sum, { count: made }) => sum + made, count),
    last_created_at: isoTime(times.reduce((latest, time) => Math.max(latest, time))),
  };
}

function renewedBy({ upload, result }: Job): { count: number; at: number } {
  return { count: result?.newTokens ?? 0, at: (upload?.at ?? 0) + (upload?.processing ?? 0) };
}

function activeTokens(world: World, finished: readonly Job[], now: number): number {
  const month = new Date(now).toISOString().slice(0, 7);
  const isNow = (at: number): boolean => isoTime(at).startsWith(month);
  const active = seededActivity(world, Date.parse(month), now);
  for (const { id, created } of world.tokens.all()) if (isNow(created.at)) active.add(id);
  const jobs = finished.filter((job) => isNow(renewedBy(job).at));
  for (const { result } of jobs) for (const token of result?.used ?? []) active.add(token);
  return jobs.reduce((sum, job) => sum + renewedBy(job).count, active.size);
}

// Of very many logs the latest say enough: they name the same few entities again and again.
const MOST_LOGS = 20_000;

function seededActivity({ start }: World, from: number, now: number): Set<string> {
  const logs = seededLogs(start.seed, start.at, start.logs);
  const active = new Set<string>();
  for (let number = Math.max(0, logs.count - MOST_LOGS); number < logs.count; number += 1) {
    const time = logs.timeOf(number);
    if (time < from || time > now) continue;
    if (TOKEN_TYPES.some((type) => type === logs.entityTypeOf(number))) active.add(logs.entityIdOf(number));
  }
  return active;
}
