import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/system.ts';
import { DirectoryStore } from '../../src/client/store/directory-store.ts';
import type { RunningSandbox } from '../../src/emulator/running-sandbox.ts';
import { findArchive } from '../../src/logs/archive/manifest.ts';
import { ARCHIVE } from '../../src/logs/archive/records/record.ts';
import { ArchiveWriter } from '../../src/logs/archive/writer.ts';
import type { ArchiveSummary } from '../../src/logs/commands/archive.ts';
import type { Log } from '../../src/schema/log.ts';
import { readArchive } from '../logs/archive/archived.ts';
import { startSandbox } from '../support/sandbox.ts';
import { type Finished, finished, Home } from '../support/svc.ts';
import { succeeded } from '../support/run-here.ts';

const ARCHIVES = process.env['SOAK'] === '1' ? 50 : 1;
const KILLS = 4;
const RETENTIONS = process.env['SOAK'] === '1' ? 150 : 2;
const headers = { 'SVC-API-KEY': 'sandbox-management-key' };
let sandbox: RunningSandbox;

/** Starts a service for one archive only: every read adds an entry, so a shared log would keep growing. */
async function withSandbox(work: (home: Home) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-archive-killed-'));
  const home = new Home();
  sandbox = await startSandbox({ directory, logCount: 2000 });
  try {
    await work(home);
  } finally {
    await sandbox.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Runs `svc logs archive` with a commit after every batch, and kills it after `ms` milliseconds. */
async function killedAfter(home: Home, ms: number, ...more: string[]): Promise<Finished> {
  const argv = ['logs', 'archive', 'audit', '--every', '1ms', '--since', '23h', '-o', 'json', ...more];
  const env = { SVC_BASE_URL: sandbox.url, SVC_MANAGEMENT_API_KEY: headers['SVC-API-KEY'], SVC_PACING: 'off' };
  const child = home.start(argv, { env });
  const timer = setTimeout(() => child.kill('SIGKILL'), ms);
  const result = await finished(child);
  clearTimeout(timer);
  return result;
}

async function toItsEnd(home: Home): Promise<ArchiveSummary> {
  const { stdout } = succeeded(await killedAfter(home, 600_000));
  return JSON.parse(stdout) as ArchiveSummary;
}

/** Returns all entries that the service has from a period, as sorted text. */
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
    `R33: an archive that is killed holds every entry once and its chain is whole, killed ${KILLS} times at random, ${ARCHIVES} times`,
    { timeout: 900_000 },
    async () => {
      let wholeMs = 0;
      // The first round only measures how long a run takes.
      for (let round = 0; round <= ARCHIVES; round += 1) {
        await withSandbox(async (home) => {
          // No kill comes in the first 30 % of a run, where the process starts and nothing can be lost.
          const kills = round === 0 ? 0 : KILLS;
          for (let kill = 0; kill < kills; kill += 1) await killedAfter(home, wholeMs * (0.3 + Math.random() * 0.7));
          const begunAt = performance.now();
          const { read_to: readTo } = await toItsEnd(home);
          if (round === 0) wholeMs = performance.now() - begunAt;
          // An entry of the last second may only be listed in the next one.
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

describe('a retention that is killed', () => {
  it(
    `R33: a retention that is killed leaves an archive that verifies, and the next run finishes it, killed at ${RETENTIONS} moments from its middle to its end`,
    { timeout: 900_000 },
    async () => {
      await withSandbox(async (home) => {
        const { tenant_id: tenantId } = await toItsEnd(home);
        const old = await addOldMonths(home, tenantId);
        cpSync(home.file('audit'), home.file('whole'), { recursive: true });
        let wholeMs = 0;
        for (let round = 0; round <= RETENTIONS; round += 1) {
          rmSync(home.file('audit'), { recursive: true });
          cpSync(home.file('whole'), home.file('audit'), { recursive: true });
          const begunAt = performance.now();
          // The first round only measures a whole run. No kill comes in its first half, which starts and reads.
          const moment = round === 0 ? 120_000 : wholeMs * (0.5 + round / (2 * RETENTIONS + 1));
          await killedAfter(home, moment, '--keep', '2M');
          if (round === 0) wholeMs = performance.now() - begunAt;
          // A segment without its record may remain, but nothing may be missing.
          const { stdout } = await home.svc(['logs', 'verify', 'audit', '--jq', '.problem']);
          expect(new Set(stdout.trimEnd().split('\n'))).toContain('null');
          expect(stdout).not.toMatch(/missing|changed|cut|damaged|unfit/);
          await killedAfter(home, 600_000, '--keep', '2M');
          expect(await home.svc(['logs', 'verify', 'audit', '--strict'])).toMatchObject({ code: 0 });
          // A folder that a killed run emptied may remain.
          const left = old.map((day) => home.file(join('audit', `tenant=${tenantId}`, day))).filter(existsSync);
          expect(left.flatMap((day) => readdirSync(day))).toEqual([]);
        }
      });
    },
  );
});

/** Adds 120 days with one entry each, all more than three months old, and returns their folders. */
async function addOldMonths(home: Home, tenantId: string): Promise<string[]> {
  const host = { pid: process.pid, isAlive: () => true, clock: systemClock, signal: new AbortController().signal };
  const store = new DirectoryStore(home.file('audit'), host, ARCHIVE);
  const days = Array.from({ length: 120 }, (_, day) => new Date(Date.now() - (100 + day) * 86_400_000));
  await store.lock(async () => {
    const found = await findArchive(store);
    if (!found) throw new Error('there is no archive');
    const writer = await ArchiveWriter.open(store, found.last, { tenantId, now: () => systemClock.now() });
    const { settled, readTo } = writer.position;
    await writer.add(days.map((day) => ({ tenant_id: tenantId, created_at: day.toISOString() })));
    await writer.commit({ settled, readTo: readTo + 1, newest: undefined, passed: [] });
  });
  return days.map((day) => `date=${day.toISOString().slice(0, 10)}`);
}

/** Reads and checks the archive, and returns its entries from before a time as sorted text. */
async function archivedBefore(home: Home, time: string): Promise<{ first: string; archived: string[] }> {
  const host = { pid: 1, isAlive: () => true, clock: systemClock, signal: new AbortController().signal };
  const { logs, links, gaps } = await readArchive(new DirectoryStore(home.file('audit'), host, ARCHIVE));
  if (gaps.length > 0) throw new Error('there is a gap');
  const archived = logs.filter(({ created_at }) => Date.parse(created_at) < Date.parse(time));
  const first = links[0]?.record.position.read_to ?? '';
  return { first, archived: archived.map((log) => JSON.stringify(log)).toSorted() };
}
