import type { Log } from '../../../src/schema/log.ts';
import { FakeClock } from '../../support/clock.ts';
import { svcHere } from '../../support/run-here.ts';
import { buildArchive, TENANT } from '../archive/build.ts';

export const NOW = Date.UTC(2026, 2, 2, 6);
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const YESTERDAY = Date.UTC(2026, 2, 1);
const HOSTILE = `<img src=x onerror="alert(1)">&"'\u202e`;

export function entry(at: number, more: Partial<Log> = {}): Log {
  const known = { entity_type: 'card', operation: 'read', actor_type: 'user', actor_id: 'known' };
  return { tenant_id: TENANT, ...known, created_at: new Date(at).toISOString(), ...more };
}

/** Entries of the 20 days before yesterday. */
export const PAST = Array.from({ length: 80 }, (_, index) => entry(YESTERDAY - 20 * DAY + index * 6 * HOUR));
/** Entries of yesterday: a deletion, and a change by somebody new. */
export const DAILY = [
  entry(YESTERDAY + HOUR, { operation: 'delete', message: 'secret words' }),
  entry(YESTERDAY + 2 * HOUR, { entity_type: 'application', operation: 'update', actor_id: HOSTILE }),
];

export async function archive(entries = DAILY, gap = false) {
  const { top } = await buildArchive(YESTERDAY - 20 * DAY, [
    { to: YESTERDAY + 3 * HOUR, entries: [...PAST, ...entries] },
    ...(gap ? [{ to: YESTERDAY + 4 * HOUR, gap: true }] : []),
    { to: NOW },
  ]);
  return top;
}

export function review(top: string, ...argv: string[]) {
  return svcHere(['logs', 'review', top, ...argv], { clock: new FakeClock({ start: NOW }), cwd: top });
}
