import type { Log } from '../../../src/schema/log.ts';
import { FakeClock } from '../../support/clock.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { type HereResult, svcHere } from '../../support/run-here.ts';
import { buildArchive } from '../archive/build.ts';
import { type LogServer, startLogServer } from './log-server.ts';

export const NOW = Date.UTC(2026, 2, 1, 12, 30);
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
/** The beginning of the archive. */
export const BEGIN = NOW - 30 * DAY;
export const KNOWN = '4707c78a-ef35-487e-a67c-cc101d1d4c49';
export const STRANGER = 'b1a0f1a3-0d2f-4f7e-9d1c-0a4f6c7f2f11';

/** A service with 252 entries of three actors, and what runs `svc logs stats` in a directory. */
export interface Shift {
  readonly server: LogServer;
  readonly cwd: string;
  readonly stats: (argv: readonly string[], env?: Record<string, string>) => Promise<HereResult>;
  /** Gives the service so many other entries, a second apart, the newest first. */
  readonly busy: (count: number) => void;
}

export async function startShift(): Promise<Shift> {
  const cwd = temporaryDirectory();
  const server = await startLogServer();
  server.now = new Date(NOW).toISOString();
  server.logs.push(
    ...Array.from({ length: 250 }, (_, index) => entry((index + 1) * 60_000, 'read', 'b'.repeat(36))),
    entry(5 * HOUR, 'delete', 'c'.repeat(36)),
    entry(30 * HOUR, 'create', 'd'.repeat(36)),
  );
  return {
    server,
    cwd,
    stats: (argv, env = {}) =>
      svcHere(['logs', 'stats', ...argv], {
        baseUrl: new URL(server.url),
        clock: new FakeClock({ start: NOW }),
        env,
        cwd,
      }),
    busy: (count) =>
      void server.logs.splice(
        0,
        Infinity,
        ...Array.from({ length: count }, (_, index) => entry((index + 1) * 1000, 'read', 'b')),
      ),
  };
}

export function entry(agoMs: number, operation: string, actor: string): Log {
  const created_at = new Date(NOW - agoMs).toISOString();
  return { entity_type: 'card', operation, actor_id: actor, actor_type: 'user', message: 'm', created_at };
}

export function entryAt(at: number, actor: string): Log {
  return { ...entry(0, 'read', actor), created_at: new Date(at).toISOString() };
}

/** An archive of 30 days with eight entries a day by one actor, and many of the last hours by another. */
export function archive() {
  const usual = Array.from({ length: 29 * 8 }, (_, index) => entryAt(BEGIN + (index / 8) * DAY, KNOWN));
  const burst = Array.from({ length: 60 }, (_, index) => entryAt(NOW - 3 * HOUR + index, STRANGER));
  return buildArchive(BEGIN, [{ to: NOW, entries: [...usual, ...burst], late: [entryAt(BEGIN, KNOWN)] }]);
}
