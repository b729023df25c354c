import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ArchiveSummary } from '../../src/commands/logs/archive.ts';
import { DirectoryStore } from '../../src/logs/archive/directory-store.ts';
import type { RunningSandbox } from '../../src/sandbox/options.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import type { Log } from '../../src/schema/log.ts';
import { systemClock } from '../../src/system.ts';
import { readArchive } from '../logs/archive/archived.ts';
import { type Finished, finished, Home } from '../support/svc.ts';

const ARCHIVES = process.env['SOAK'] === '1' ? 50 : 4;
const KILLS = 4;
const headers = { 'SVC-API-KEY': 'sandbox-management-key' };
let sandbox: RunningSandbox;

/** A service of its own for each archive: as every read leaves an entry, its log grows. */
async function withSandbox(work: (home: Home) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-archive-killed-'));
  const home = new Home();
  sandbox = await startSandbox({ directory, logCount: 2000 });
  try {
    await work(home);
  } finally {
    await sandbox.close();
    home.remove();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Runs the archive, with a commit after every batch, and kills it after so many milliseconds. */
async function killedAfter(home: Home, ms: number): Promise<Finished> {
  const argv = ['logs', 'archive', 'audit', '--every', '1ms', '--since', '23h', '-o', 'json'];
  const env = {
    SVC_BASE_URL: sandbox.url,
    SVC_MANAGEMENT_API_KEY: headers['SVC-API-KEY'],
    SVC_PACING: 'off',
  };
  const child = home.start(argv, { env });
  const timer = setTimeout(() => child.kill('SIGKILL'), ms);
  const result = await finished(child);
  clearTimeout(timer);
  return result;
}

async function toItsEnd(home: Home): Promise<ArchiveSummary> {
  const { code, stdout, stderr } = await killedAfter(home, 120_000);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as ArchiveSummary;
}

/** All that the service has of a stretch of time, as text, sorted. */
async function served(from: string, to: string): Promise<string[]> {
  const found: string[] = [];
  for (let start: string | undefined = ''; start !== undefined;) {
    const cursor: string = start === '' ? '' : `&start=${encodeURIComponent(start)}`;
    const url = `${sandbox.url}/logs?size=100&start_date=${from}&end_date=${to}${cursor}`;
    const page = (await (await fetch(url, { headers })).json()) as {
      data: Log[];
      pagination: { next?: string | null };
    };
    found.push(...page.data.map((log) => JSON.stringify(log)));
    start = page.pagination.next ?? undefined;
  }
  return found.toSorted();
}

describe('an archive that is killed', () => {
  it(
    `R33 holds every entry once and its chain is whole, killed ${KILLS} times at random, ${ARCHIVES} times`,
    { timeout: 900_000 },
    async () => {
      let wholeMs = 0;
      // The first one only tells how long a run takes.
      for (let round = 0; round <= ARCHIVES; round += 1) {
        await withSandbox(async (home) => {
          // The beginning of a run is the start of a process, where nothing can be lost.
          const kills = round === 0 ? 0 : KILLS;
          for (let kill = 0; kill < kills; kill += 1) await killedAfter(home, wholeMs * (0.3 + Math.random() * 0.7));
          const begunAt = performance.now();
          const { read_to: readTo } = await toItsEnd(home);
          if (round === 0) wholeMs = performance.now() - begunAt;
          // What is written down in the last second may show only in the next.
          await systemClock.sleep(1_100);
          await toItsEnd(home);
          const { first, archived } = await archivedBefore(home, readTo);
          expect(archived.length).toBeGreaterThan(1000);
          expect(archived).toEqual(await served(first, readTo));
          expect(await home.svc(['logs', 'verify', 'audit', '--strict'])).toMatchObject({ code: 0 });
        });
      }
    },
  );
});

/** All that the archive holds from before a time, as text, sorted. The archive is checked on the way. */
async function archivedBefore(home: Home, time: string): Promise<{ first: string; archived: string[] }> {
  const host = { pid: 1, isAlive: () => true, clock: systemClock, signal: new AbortController().signal };
  const { logs, links, gaps } = await readArchive(new DirectoryStore(home.file('audit'), host));
  if (gaps.length > 0) throw new Error('there is a gap');
  const archived = logs.filter(({ created_at }) => Date.parse(created_at) < Date.parse(time));
  const first = links[0]?.record.standing.read_to ?? '';
  return { first, archived: archived.map((log) => JSON.stringify(log)).toSorted() };
}
