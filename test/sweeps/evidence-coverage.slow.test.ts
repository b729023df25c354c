import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { isInstalled } from '../../src/base/files/names.ts';
import { findArchive } from '../../src/logs/archive/manifest.ts';
import { Retention } from '../../src/logs/archive/retention.ts';
import { ArchiveWriter } from '../../src/logs/archive/writer.ts';
import { buildArchive, type Commit, TENANT } from '../logs/archive/build.ts';
import { check, POSIX, shellOf } from '../logs/prove/bundles.ts';
import { FakeClock } from '../support/clock.ts';
import { succeeded, svcHere } from '../support/run-here.ts';
import { temporaryDirectory } from '../support/directory.ts';

const HOUR = 3_600_000;

/** An archive and a request, in hours after its beginning at `begin`. */
interface Case {
  readonly name: string;
  readonly begin: string;
  /** The ends of commits in hours; negative ones are gaps. */
  readonly commits: readonly number[];
  /** Hours from the beginning until the command runs. */
  readonly now: number;
  readonly argv?: readonly string[];
  /** Whether retention drops the months before the one in which the archive ends. */
  readonly isDropped?: boolean;
}

const BEGIN = '2026-02-27T00:00:00Z';

const CASES: readonly Case[] = [
  { name: 'whole days', begin: BEGIN, commits: [24, 48], now: 60 },
  { name: 'an archive of two hours and 40 minutes', begin: BEGIN, commits: [8 / 3], now: 60 },
  { name: 'an archive that begins in the evening', begin: '2026-02-27T21:20:00Z', commits: [8 / 3], now: 60 },
  { name: 'a gap', begin: BEGIN, commits: [10, -13, 48], now: 60 },
  { name: 'three gaps', begin: BEGIN, commits: [1, -2, 10, -20, 30, -30.5, 72], now: 72 },
  { name: 'a gap at the beginning', begin: BEGIN, commits: [-5, 24], now: 30 },
  { name: 'a gap at the end', begin: BEGIN, commits: [24, -30], now: 60 },
  { name: 'only a gap', begin: BEGIN, commits: [-30], now: 60 },
  { name: 'a day that is not over', begin: BEGIN, commits: [24, 30], now: 30 },
  { name: 'a day that is not over, archived an hour ago', begin: BEGIN, commits: [30], now: 31 },
  {
    name: 'the days since one before the archive',
    begin: BEGIN,
    commits: [48],
    now: 50,
    argv: ['--since', '2026-02-20'],
  },
  {
    name: 'days since an archive that stopped',
    begin: BEGIN,
    commits: [48],
    now: 200,
    argv: ['--since', '2026-02-28'],
  },
  {
    name: 'a day in an archive',
    begin: BEGIN,
    commits: [30, -33, 96],
    now: 99,
    argv: ['--since', '2026-02-28', '--until', '2026-03-01'],
  },
  { name: 'days before the archive', begin: BEGIN, commits: [48], now: 50, argv: ['--until', '2026-02-20'] },
  { name: 'days after the archive', begin: BEGIN, commits: [24], now: 99, argv: ['--since', '2026-03-01'] },
  {
    name: 'days to come',
    begin: BEGIN,
    commits: [24, -26, 40],
    now: 41,
    argv: ['--since', '2026-02-27', '--until', '2030-01-01'],
  },
  { name: 'a leap day', begin: '2028-02-28T06:00:00Z', commits: [20, -21, 70], now: 80 },
  { name: 'a turn of years', begin: '2026-12-30T08:00:00Z', commits: [40, -41, 77.5], now: 77.75 },
  { name: 'a month that retention dropped', begin: BEGIN, commits: [30, -33, 96], now: 99, isDropped: true },
  {
    name: 'a request with a dropped month',
    begin: BEGIN,
    commits: [30, -33, 96],
    now: 99,
    isDropped: true,
    argv: ['--since', '2026-02-20'],
  },
  {
    name: 'a gap beside dropped months',
    begin: BEGIN,
    commits: [46, -50, 96],
    now: 99,
    isDropped: true,
    argv: ['--since', '2026-02-28'],
  },
  { name: 'a second of seven years', begin: '2020-01-01T00:00:00Z', commits: [1 / 3600, -61_000], now: 61_000 },
  { name: 'all but a second', begin: BEGIN, commits: [12, -12 - 1 / 3600, 240], now: 240 },
];

interface Printed {
  readonly from: string;
  readonly to: string;
  readonly requested: { readonly from: string; readonly to: string };
  readonly coverage: number;
  readonly missing: readonly { readonly from: string; readonly to: string; readonly reason: string }[];
  readonly sums_sha256: string;
  readonly sha256: string;
}

async function archiveOf({ begin, commits, isDropped = false }: Case) {
  const start = Date.parse(begin);
  const ends = commits.map((hours): Commit => ({ to: start + Math.abs(hours) * HOUR, gap: hours < 0 }));
  const built = await buildArchive(start, ends.map(withEntry));
  if (!isDropped) return built;
  await built.store.lock(async () => {
    const found = await findArchive(built.store);
    const writer = await ArchiveWriter.open(built.store, found!.last, { tenantId: TENANT, now: () => start });
    const { readTo } = writer.position;
    await new Retention(0, 'root@vault').apply(writer, { service: readTo, machine: readTo });
  });
  return built;
}

function withEntry(commit: Commit): Commit {
  const created_at = new Date(commit.to - 1).toISOString();
  return commit.gap === true ? commit : { ...commit, entries: [{ tenant_id: TENANT, operation: 'read', created_at }] };
}

async function bundled(one: Case) {
  const { top } = await archiveOf(one);
  const cwd = temporaryDirectory();
  const clock = new FakeClock({ start: Date.parse(one.begin) + one.now * HOUR });
  const argv = ['logs', 'evidence', top, ...(one.argv ?? []), '--out', 'e.tar.gz', '-o', 'json'];
  const run = succeeded(await svcHere(argv, { cwd, clock }));
  execFileSync('tar', ['-xzf', 'e.tar.gz'], { cwd, stdio: 'ignore' });
  const bundle = path.join(cwd, 'evidence');
  const page = fs.readFileSync(path.join(bundle, 'report.html'), 'utf8');
  return { bundle, page, stderr: run.stderr, made: JSON.parse(run.stdout) as Printed };
}

/** Counts the covered milliseconds of the requested time from the commits, in order of time. */
function shareOf({ begin, commits, isDropped = false }: Case, { requested }: Printed): number {
  const [from, to] = [Date.parse(requested.from), Date.parse(requested.to)];
  const dropped = isDropped ? Date.UTC(2026, 2, 1) : -Infinity;
  let at = Date.parse(begin);
  let covered = 0;
  for (const hours of commits) {
    const end = Date.parse(begin) + Math.abs(hours) * HOUR;
    if (hours > 0) covered += Math.max(0, Math.min(end, to) - Math.max(at, from, dropped));
    at = end;
  }
  return Math.floor((covered * 1000) / (to - from)) / 1000;
}

function shown(iso: string): string {
  return `${iso.slice(0, 19).replace('T', ' ')}Z`;
}

function wordsOf({ coverage, requested }: Printed): string {
  return `${Math.round(coverage * 1000) / 10}% of ${shown(requested.from)} to ${shown(requested.to)}`;
}

/** The shell of the system, and busybox, whose awk is another one. The script works in further ones as in these. */
const shells = [POSIX, ...(isInstalled('busybox', process.env) ? [shellOf('busybox')] : [])];

describe('the coverage of an evidence bundle', () => {
  it.each(CASES.map((one) => [one.name, one] as const))(
    'R90: page, stderr, JSON and the last line of verify.sh state the same share of the requested time: %s',
    async (_, one) => {
      const { bundle, page, stderr, made } = await bundled(one);
      const words = wordsOf(made);
      expect(made.coverage).toBe(shareOf(one, made));
      expect(made.requested.from.slice(11)).toBe('00:00:00.000Z');
      expect(stderr).toContain(words);
      expect(page).toContain(`<p>The archive covers ${words}.</p>`);
      const isWhole = made.missing.length === 0;
      expect([made.coverage === 1, !page.includes('class="odd">The archive covers only')]).toEqual([isWhole, isWhole]);
      const missing = made.missing.map(({ from, to, reason }) => `${shown(from)} to ${shown(to)}: ${reason}`);
      for (const { reason } of made.missing) expect(page).toContain(`entries may be missing: ${reason}`);
      for (const line of missing.slice(0, 5)) expect(stderr).toContain(line);
      for (const shell of shells)
        for (const hash of [made.sums_sha256, made.sha256]) {
          const { status, stdout, stderr: failure } = check(shell, bundle, hash);
          expect([status, failure]).toEqual([0, '']);
          const lines = stdout.trimEnd().split('\n');
          expect(lines.at(-1)).toBe(`Coverage: ${words}`);
          expect(lines.filter((line) => line.startsWith('Missing: '))).toEqual(
            missing.map((line) => `Missing: ${line}`),
          );
        }
    },
  );

  it('R90: coverage is of whole days, of the last one until now, and names why the rest is missing', async () => {
    const found = await Promise.all(
      [
        'an archive of two hours and 40 minutes',
        'a day that is not over',
        'days to come',
        'a request with a dropped month',
      ].map(async (name) => {
        const { made } = await bundled(CASES.find((one) => one.name === name)!);
        const reasons = made.missing.map(({ from, to, reason }) => `${from} ${to} ${reason}`);
        return [made.coverage, made.requested.to, reasons];
      }),
    );
    expect(found).toEqual([
      [0.111, '2026-02-28T00:00:00.000Z', ['2026-02-27T02:40:00.000Z 2026-02-28T00:00:00.000Z not archived yet']],
      [1, '2026-02-28T06:00:00.000Z', []],
      [
        0.926,
        '2026-02-28T17:00:00.000Z',
        [
          '2026-02-28T00:00:00.000Z 2026-02-28T02:00:00.000Z gap',
          '2026-02-28T16:00:00.000Z 2026-02-28T17:00:00.000Z not archived yet',
        ],
      ],
      [
        0.179,
        '2026-03-03T03:00:00.000Z',
        [
          '2026-02-20T00:00:00.000Z 2026-02-27T00:00:00.000Z before the archive',
          '2026-02-27T00:00:00.000Z 2026-03-01T00:00:00.000Z dropped by retention',
          '2026-03-03T00:00:00.000Z 2026-03-03T03:00:00.000Z not archived yet',
        ],
      ],
    ]);
  });
});
