import fs from 'node:fs';
import path from 'node:path';
import { parseRecord, recordPath } from '../../../src/logs/archive/records/record.ts';
import type { Log } from '../../../src/schema/log.ts';
import { FakeClock } from '../../support/clock.ts';
import { svcHere } from '../../support/run-here.ts';
import { buildArchive, TENANT } from '../archive/build.ts';

export const NOW = Date.UTC(2026, 2, 4, 6);

export const HOUR = 3_600_000;

export const DAY = 24 * HOUR;

export const START = Date.UTC(2026, 2, 1);

export function entry(at: number, more: Partial<Log> = {}): Log {
  const known = { entity_type: 'card', operation: 'read', actor_type: 'user', actor_id: 'known' };
  return { tenant_id: TENANT, ...known, created_at: new Date(at).toISOString(), ...more };
}

/** An archive of the first three days of March: a deletion on the second, and a gap on the third. */
export async function archive(to = NOW) {
  const { top } = await buildArchive(START, [
    { to: START + 2 * DAY, entries: [entry(START + HOUR), entry(START + DAY + HOUR, { operation: 'delete' })] },
    { to: START + 2 * DAY + HOUR, gap: true },
    { to, entries: [entry(START + 2 * DAY + 2 * HOUR)] },
  ]);
  return top;
}

export function review(top: string, ...argv: string[]) {
  return reviewAt(NOW, top, ...argv);
}

export function reviewAt(start: number, top: string, ...argv: string[]) {
  return svcHere(['logs', 'review', top, ...argv], { clock: new FakeClock({ start }), cwd: path.dirname(top) });
}

export function recordOf(top: string, number: number) {
  const name = recordPath(number);
  return parseRecord(fs.readFileSync(path.join(top, name), 'utf8'), name).record;
}

export const SIGN = ['--day', '2026-03-02', '--sign-off', '--by', 'Ana'];
