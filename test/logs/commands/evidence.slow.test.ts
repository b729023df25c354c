import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { sha256Of } from '../../../src/base/files/draft.ts';
import { findArchive } from '../../../src/logs/archive/manifest.ts';
import { Retention } from '../../../src/logs/archive/retention.ts';
import { ArchiveWriter } from '../../../src/logs/archive/writer.ts';
import type { Log } from '../../../src/schema/log.ts';
import { FakeClock } from '../../support/clock.ts';
import { errorIn, succeeded, svcHere } from '../../support/run-here.ts';
import { buildArchive, filesIn, openStore, TENANT } from '../archive/build.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 30);
const CARD = '4111111111111111';

function entry(at: number, more: Partial<Log> = {}): Log {
  return { tenant_id: TENANT, operation: 'read', created_at: new Date(at).toISOString(), ...more };
}

/** An archive of five days with a late entry, a shared one, one without a time, and a gap. */
async function archive() {
  const entries = Array.from({ length: 20 }, (_, index) => entry(START + index * (DAY / 4)));
  return buildArchive(START, [
    { to: START + DAY, entries: [...entries.slice(0, 4), { tenant_id: TENANT, created_at: 'lately' }] },
    { to: START + 3 * DAY, entries: entries.slice(4, 12), late: [entry(START + 1, { message: CARD })] },
    { to: START + 4 * DAY, gap: true },
    {
      to: START + 5 * DAY,
      entries: [...entries.slice(16), entry(START + 4 * DAY + 1, { tenant_id: 'o'.repeat(190) })],
    },
  ]);
}

interface Made {
  readonly sha256: string;
  readonly sums_sha256: string;
  readonly file_sha256: string;
  readonly segments: number;
}

const NOTHING: Made = { sha256: '', sums_sha256: '', file_sha256: '', segments: 0 };

async function bundled(top: string, ...argv: string[]) {
  const cwd = temporaryDirectory();
  const run = await svcHere(['logs', 'evidence', top, '--out', 'e.tar.gz', ...argv], { cwd });
  const made = run.code === 0 ? (JSON.parse(run.stdout) as Made) : NOTHING;
  return { cwd, file: path.join(cwd, 'e.tar.gz'), made, ...run };
}

/** The folder of an unpacked bundle. */
function unpacked(file: string): string {
  const into = temporaryDirectory();
  execFileSync('tar', ['-xzf', file, '-C', into]);
  return path.join(into, 'evidence');
}

function check(bundle: string, head?: string) {
  const argv = [path.join(bundle, 'verify.sh'), ...(head === undefined ? [] : [head])];
  const { status, stdout, stderr } = spawnSync('sh', argv, { encoding: 'utf8' });
  return { status, stdout, stderr };
}

it('svc logs evidence writes a bundle for its owner only, whose script verifies it, and warns of card numbers', async () => {
  const { top, links } = await archive();
  const { file, made, stderr } = await bundled(top);
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  expect(stderr).toContain('what looks like a card number was found in 1 of 19 entries: keep the bundle as safe');
  expect(made).toMatchObject({
    from: '2026-01-30',
    to: '2026-02-03',
    records: 5,
    entries: 19,
    gaps: 1,
    problems: 0,
    sha256: links.at(-1)?.sha256,
    file_sha256: sha256Of(fs.readFileSync(file)),
  });
  const bundle = unpacked(file);
  const { status, stdout } = check(bundle, made.sha256);
  expect([status, stdout]).toEqual([
    0,
    [
      `OK: 19 entries in ${made.segments} files, of the days 2026-01-30 to 2026-02-03 (UTC); 5 records, the newest with the hash ${made.sha256}`,
      `Tenant ${TENANT} of https://vault.example`,
      'Covered: 2026-01-30T00:00:00.000Z to 2026-02-02T00:00:00.000Z',
      'Covered: 2026-02-03T00:00:00.000Z to 2026-02-04T00:00:00.000Z',
      'Gap, entries may be missing: 2026-02-02T00:00:00.000Z to 2026-02-03T00:00:00.000Z',
      'Missing: 2026-02-02 00:00:00Z to 2026-02-03 00:00:00Z: gap',
      "Checked against the record's hash: it proves the records, these entries, and what is printed here.",
      'It does not prove that these are the days you asked for, nor README.md, report.html, access.csv and what svc verified: for that, give the hash of SHA256SUMS.',
      'Coverage: 80% of 2026-01-30 00:00:00Z to 2026-02-04 00:00:00Z',
      '',
    ].join('\n'),
  ]);
  expect(check(bundle, made.sums_sha256).stdout).toMatch(
    /\nChecked against SHA256SUMS only: .*\nCoverage: 80% of .*\n$/,
  );
  expect(sha256Of(fs.readFileSync(path.join(bundle, 'SHA256SUMS'), 'utf8'))).toBe(made.sums_sha256);
  for (const wrong of ['', 'abc', `${made.sha256}0`]) expect(check(bundle, wrong).status).toBe(1);
  expect(check(bundle, 'a'.repeat(64)).stderr).toContain('is neither that of SHA256SUMS (');
  expect(check(bundle, made.sha256.toUpperCase()).status).toBe(0);

  const alone = check(bundle);
  expect([alone.status, alone.stdout]).toEqual([
    0,
    expect.stringContaining('\nChecked against nothing from outside: ask for the hash.'),
  ]);
  for (const name of filesIn(top).filter((each) => !/^_index|head\.json$/.test(each)))
    expect(fs.readFileSync(path.join(bundle, name)).equals(fs.readFileSync(path.join(top, name)))).toBe(true);
  expect(JSON.parse(fs.readFileSync(path.join(bundle, 'evidence.json'), 'utf8'))).toMatchObject({
    tenant_id: TENANT,
    gaps: [{ from: '2026-02-02T00:00:00.000Z', to: '2026-02-03T00:00:00.000Z' }],
    verified: { entries: 19, problems: [] },
  });
});

it('R77: the script of a bundle checks an archive of the first version, whose records name an index', async () => {
  const kept = fileURLToPath(new URL('../../fixtures/kept-archive', import.meta.url));
  const { file, made } = await bundled(kept);
  const { status, stdout } = check(unpacked(file), made.sha256);
  expect([made.sha256, status, stdout]).toEqual([
    'cbb2fda1b03654cb468bd78ec875200ea3e979da9ae5c40d452c5800237bace5',
    0,
    expect.stringContaining("\nChecked against the record's hash: "),
  ]);
});

it('R77: the script of an evidence bundle names the program that is not installed', async () => {
  const bundle = unpacked((await bundled((await archive()).top)).file);
  const programs = ['awk', 'dirname', 'find', 'gzip', 'sed', 'sha256sum', 'tr', 'wc'];
  for (const missing of programs) {
    const at = temporaryDirectory();
    for (const name of programs.filter((each) => each !== missing))
      fs.symlinkSync(
        execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(),
        path.join(at, name),
      );
    const { status, stdout, stderr } = spawnSync('/bin/sh', [path.join(bundle, 'verify.sh'), 'a'.repeat(64)], {
      encoding: 'utf8',
      env: { PATH: at },
    });
    expect([status, stdout, stderr]).toEqual([1, '', `FAILED: ${missing} is not installed\n`]);
  }
});

it('svc logs evidence --month takes the days of a month, and names the bundle after it', async () => {
  const { top } = await archive();
  const cwd = temporaryDirectory();
  const run = await svcHere(['logs', 'evidence', top, '--month', '2026-01'], { cwd });
  expect(JSON.parse(run.stdout)).toMatchObject({
    file: 'evidence-2026-01.tar.gz',
    from: '2026-01-01',
    to: '2026-01-31',
  });
  expect(fs.readdirSync(cwd)).toEqual(['evidence-2026-01.tar.gz']);
  const both = await svcHere(['logs', 'evidence', top, '--month', '2026-01', '--since', '2026-01-30'], { cwd });
  expect([both.code, errorIn(both)['code']]).toEqual([2, 'usage']);
});

it('R61: svc logs evidence counts each entry of the bundle in access.csv, and names deletions without a readable time', async () => {
  const timeless = entry(0, {
    created_at: 'lately',
    operation: 'delete',
    entity_type: 'card',
    entity_id: 'c-1',
    actor_id: 'eve',
  });
  const { top } = await buildArchive(START, [{ to: START + DAY, entries: [entry(START), timeless] }]);
  const { file, made, stderr } = await bundled(top);
  expect(stderr).toContain('1 entry without a readable time');
  const bundle = unpacked(file);
  const rows = fs.readFileSync(path.join(bundle, 'access.csv'), 'utf8').trimEnd().split('\n').slice(1);
  expect([rows.length, made]).toEqual([2, expect.objectContaining({ entries: 2 })]);
  expect(rows[0]).toMatch(/^eve,,,,,1,0,0,1,card,/);
  expect(fs.readFileSync(path.join(bundle, 'report.html'), 'utf8')).toContain('deleted among them: card c-1');
  expect(check(bundle, made.sums_sha256).status).toBe(0);
});

it('svc logs evidence names applications as a review does, in its page and in access.csv', async () => {
  const application = '4707c78a-ef35-487e-a67c-cc101d1d4c49';
  const acting = { actor_type: 'application', actor_id: application };
  const { top } = await buildArchive(START, [{ to: START + DAY, entries: [entry(START + 1, acting)] }]);
  const cache = temporaryDirectory();
  const tenants = {
    [`https://vault.example ${TENANT}`]: { at: 1, names: [[application, 'Nightly refresh']], whole: [] },
  };
  fs.writeFileSync(path.join(cache, 'applications.json'), JSON.stringify({ version: 1, tenants }));
  const cwd = temporaryDirectory();
  succeeded(await svcHere(['logs', 'evidence', top, '--out', 'e.tar.gz'], { cwd, env: { SVC_CACHE_DIR: cache } }));
  const bundle = unpacked(path.join(cwd, 'e.tar.gz'));
  const [page, rows] = ['report.html', 'access.csv'].map((name) => fs.readFileSync(path.join(bundle, name), 'utf8'));
  expect(page).toContain(`>Nightly refresh ${application}<`);
  expect(rows).toContain(`${application},application,Nightly refresh,`);
  expect(check(bundle).status).toBe(0);
});

it('R90: the page of a bundle is all good only when the requested time is covered and each of its days was reviewed', async () => {
  const { top } = await buildArchive(START, [{ to: START + DAY, entries: [entry(START + 1)] }]);
  const clock = new FakeClock({ start: START + DAY + 1000 });
  const verdicts = async (...argv: string[]) => {
    const cwd = temporaryDirectory();
    succeeded(await svcHere(['logs', 'evidence', top, '--out', 'e.tar.gz', ...argv], { cwd, clock }));
    const html = fs.readFileSync(path.join(unpacked(path.join(cwd, 'e.tar.gz')), 'report.html'), 'utf8');
    return [...html.matchAll(/<p class="(?:odd|fine)">(?:<strong>)?([^<]*)/g)].map(([, words]) => words);
  };
  const intact = 'What the archive contains was intact.';
  expect(await verdicts()).toEqual(['1 day without a signed review.', intact]);
  await svcHere(['logs', 'review', top, '--day', '2026-01-30', '--sign-off'], { clock });
  expect(await verdicts()).toEqual(['The archive was intact, and each of these days was reviewed.']);
  expect(await verdicts('--since', '2026-01-20')).toEqual([
    'The archive covers only 9% of 2026-01-20 00:00:00Z to 2026-01-31 00:00:01Z.',
    '10 days without a signed review.',
    intact,
  ]);
});

it('R90: entries of odd years are in a bundle, and do not change which time it covers', async () => {
  const odd = ['1990-05-06T00:00:00.000Z', '2999-05-06T00:00:00.000Z'].map((at) => entry(Date.parse(at)));
  const { top } = await buildArchive(START, [{ to: START + DAY, entries: [...odd, entry(START + 1)] }]);
  const { file, made } = await bundled(top);
  expect(made).toMatchObject({ from: '1990-05-06', to: '2999-05-06', entries: 3, coverage: 1, days: 1, missing: [] });
  const bundle = unpacked(file);
  expect(check(bundle, made.sha256).stdout).toMatch(
    /\nCoverage: 100% of 2026-01-30 00:00:00Z to 2026-01-31 00:00:00Z\n$/,
  );
  expect(fs.readFileSync(path.join(bundle, 'report.html'), 'utf8')).toContain('Audit logs of 2026-01-30 to 2026-01-30');
  const month = await bundled(top, '--since', '2026-01-30', '--until', '2026-01-31');
  expect(month.made).toMatchObject({ from: '2026-01-30', to: '2026-01-30', entries: 1, coverage: 1 });
});

it.each([
  ['--since', '2026-02-20'],
  ['--month', '2026-04'],
])('svc logs evidence %s %s refuses days to come', async (...argv) => {
  const { top } = await buildArchive(START, [{ to: START + DAY }]);
  const { code, stderr } = await bundled(top, ...argv);
  expect([code, stderr]).toEqual([2, expect.stringContaining('the requested time is in the future')]);
});

it('svc logs evidence writes the same bytes for the same archive and days, under any name', async () => {
  const { top } = await archive();
  const [one, other] = [await bundled(top), await bundled(top)];
  expect(one.made.file_sha256).toBe(other.made.file_sha256);
  expect((await bundled(top, '--since', '2026-01-31')).made.file_sha256).not.toBe(one.made.file_sha256);
});

it('svc logs evidence gives each file the time at which the last segment was written', async () => {
  const { top } = await archive();
  const bundle = unpacked((await bundled(top)).file);
  const last = path.join(bundle, '_manifest/00000004.json');
  const { written_at } = JSON.parse(fs.readFileSync(last, 'utf8')) as { written_at: string };
  const times = filesIn(bundle).map((name) => fs.statSync(path.join(bundle, name)).mtimeMs);
  expect(new Set(times)).toEqual(new Set([Math.floor(Date.parse(written_at) / 1000) * 1000]));
});

it.each(["Ana's ev.tar.gz", 'audit:1.tar.gz'])(
  'svc logs evidence shows a command for the auditor that a shell takes for the bundle %s',
  async (name) => {
    const { top } = await archive();
    const cwd = temporaryDirectory();
    const run = await svcHere(['logs', 'evidence', top, '--out', name, '-o', 'table'], { cwd });
    const command = /with: (tar .*?) && sh/.exec(run.stdout)?.[1] ?? 'no command';
    expect(spawnSync('sh', ['-c', command], { cwd, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
    expect(fs.existsSync(path.join(cwd, 'evidence/verify.sh'))).toBe(true);
  },
);

it('svc logs evidence includes whole days of the interval, all records, and no file of other days', async () => {
  const { top } = await archive();
  const argv = ['--since', '2026-01-31T12:00:00Z', '--until', '2026-02-01T00:00:01Z'];
  const { file, made } = await bundled(top, ...argv);
  expect(made).toMatchObject({ from: '2026-01-31', to: '2026-02-01', records: 5, entries: 9 });
  const bundle = unpacked(file);
  const days = new Set(filesIn(bundle).flatMap((name) => /date=([^/]+)/.exec(name)?.[1] ?? []));
  expect([...days].toSorted()).toEqual(['2026-01-31', '2026-02-01', 'unknown']);
  expect(check(bundle, made.sha256).status).toBe(0);
});

it('svc logs evidence leaves out months that retention dropped, states who dropped them, and counts their reviews', async () => {
  const { top, store } = await archive();
  const clock = new FakeClock({ start: START + 6 * DAY });
  succeeded(await svcHere(['logs', 'review', top, '--day', '2026-01-30', '--sign-off'], { clock }));
  await store.lock(async () => {
    const found = await findArchive(store);
    const writer = await ArchiveWriter.open(store, found!.last, { tenantId: TENANT, now: () => START });
    const { readTo } = writer.position;
    await new Retention(0, 'root@vault').apply(writer, { service: readTo, machine: readTo });
  });
  const { file, made } = await bundled(top);
  expect(made).toMatchObject({ from: '2026-02-01', records: 7, entries: 10, problems: 0 });
  const all = await bundled(top, '--since', '2026-01-30', '--until', '2026-02-03');
  expect(all.made).toMatchObject({ from: '2026-02-01', days: 4, reviewed: 1 });
  const bundle = unpacked(file);
  expect(check(bundle, made.sha256).status).toBe(0);
  const { dropped } = JSON.parse(fs.readFileSync(path.join(bundle, 'evidence.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  expect(dropped).toMatchObject([{ before: '2026-02-01T00:00:00.000Z', by: expect.stringContaining('@') }]);
  const gone = await bundled(top, '--month', '2026-01');
  expect([gone.code, errorIn(gone)['message'], fs.existsSync(gone.file)]).toEqual([
    14,
    expect.stringMatching(/^retention dropped all of these days: .* begins with 2026-02-01$/),
    false,
  ]);
});

it('svc logs evidence names problems elsewhere in the archive and exits with 12, and writes no bundle of damaged days', async () => {
  const { top } = await archive();
  const segment = filesIn(top).find((name) => name.startsWith('tenant=') && name.includes('date=2026-01-30')) ?? '';
  fs.appendFileSync(path.join(top, segment), 'x');
  const later = await bundled(top, '--since', '2026-02-01', '-o', 'json');
  expect([later.code, errorIn(later)['code']]).toEqual([12, 'checksum_mismatch']);
  expect(JSON.parse(later.stdout)).toMatchObject({ problems: 1 });
  expect(check(unpacked(later.file)).status).toBe(0);
  const own = await bundled(top);
  expect([own.code, fs.readdirSync(own.cwd)]).toEqual([12, []]);
});

it('R87: svc logs evidence calls no actor new where damage elsewhere keeps it from reading the days before', async () => {
  const { top } = await buildArchive(START, [
    { to: START + 10 * DAY, entries: [0, 1, 2, 9].map((day) => entry(START + day * DAY, { actor_id: 'ana' })) },
  ]);
  const since = ['--since', '2026-02-08'];
  const intact = await bundled(top, ...since);
  const accessIn = (file: string): string => fs.readFileSync(path.join(unpacked(file), 'access.csv'), 'utf8');
  expect(accessIn(intact.file)).toMatch(/\nana,,,2026-01-30T00:00:00.000Z,2026-02-08.*,false,false\n$/);
  const segment = filesIn(top).find((name) => name.startsWith('tenant=') && name.includes('date=2026-01-31')) ?? '';
  fs.appendFileSync(path.join(top, segment), 'x');
  const damaged = await bundled(top, ...since);
  expect([damaged.code, accessIn(damaged.file)]).toEqual([
    12,
    expect.stringMatching(/\nana,,,,2026-02-08.*,,false\n$/),
  ]);
  const page = fs.readFileSync(path.join(unpacked(damaged.file), 'report.html'), 'utf8');
  expect(page).toContain('1 actor, new ones unknown (too little of the time before was read), 0 dormant');
});

it('svc logs evidence has a usual name for the bundle, and replaces no file without --force', async () => {
  const { top } = await archive();
  const { cwd } = await bundled(top);
  expect((await svcHere(['logs', 'evidence', top], { cwd })).stdout).toContain('evidence.tar.gz');
  expect((await svcHere(['logs', 'evidence', top, '--out', '-'], { cwd })).code).toBe(2);
  const again = await svcHere(['logs', 'evidence', top, '--out', 'e.tar.gz'], { cwd });
  expect(again.code).toBe(2);
  const forced = await svcHere(['logs', 'evidence', top, '--out', 'e.tar.gz', '--force', '-o', 'table'], { cwd });
  expect(forced.stdout).toContain('19 entries of 2026-01-30 to 2026-02-03 in ');
  expect((await svcHere(['logs', 'evidence', cwd, '--out', 'f.tar.gz'], { cwd })).code).toBe(5);
  expect(openStore(top).name).toBe(top);
});
