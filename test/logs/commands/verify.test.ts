import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { withLock } from '../../../src/base/files/lock.ts';
import { findArchive } from '../../../src/logs/archive/manifest.ts';
import { recordPath } from '../../../src/logs/archive/records/record.ts';
import { ArchiveWriter } from '../../../src/logs/archive/writer.ts';
import { FakeClock } from '../../support/clock.ts';
import { errorIn, rowsIn, svcHere } from '../../support/run-here.ts';
import { buildArchive, filesIn, TENANT } from '../archive/build.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const START = Date.UTC(2026, 0, 5, 20);
const HOUR = 3_600_000;
/** Where the archives of these tests end. */
const END = START + 3 * HOUR;

function archive(withGap = false) {
  const entries = Array.from({ length: 40 }, (_, index) => ({
    tenant_id: TENANT,
    message: `entry ${index}`,
    created_at: new Date(START + index * 1000).toISOString(),
  }));
  const gap = withGap ? [{ to: START + 2 * HOUR, gap: true }] : [];
  return buildArchive(START, [{ to: START + HOUR, entries }, ...gap, { to: START + 3 * HOUR }]);
}

function verifyAt(now: number, top: string, ...argv: string[]) {
  return svcHere(['logs', 'verify', top, ...argv], { clock: new FakeClock({ start: now }) });
}

/** Writes the segment of a commit to come, and returns the path of its record and the function that commits it. */
async function beginCommit() {
  const { top, store } = await archive();
  const created_at = new Date(END + 1000).toISOString();
  const files = new Set(filesIn(top));
  const found = await findArchive(store);
  const writer = await ArchiveWriter.open(store, found!.last, { tenantId: TENANT, now: () => END });
  await store.lock(async () => {
    await writer.add([{ tenant_id: TENANT, created_at }]);
    await writer.commit({ settled: END, readTo: END + HOUR, newest: undefined, passed: [] });
  });
  const record = path.join(top, recordPath(found!.last.record.sequence + 1));
  const text = fs.readFileSync(record);
  const others = filesIn(top).filter((file) => !files.has(file) && !file.startsWith('tenant='));
  for (const file of others) fs.rmSync(path.join(top, file));
  const head = { version: 1, sequence: found!.last.record.sequence, sha256: found!.last.sha256 };
  fs.writeFileSync(path.join(top, '_manifest/head.json'), `${JSON.stringify(head)}\n`);
  return { top, commit: () => fs.writeFileSync(record, text) };
}

describe('svc logs verify', () => {
  it('svc logs verify shows people the coverage, the newest hash, and that the archive is intact', async () => {
    const { top, links } = await archive(true);
    const { code, stdout } = await svcHere(['logs', 'verify', top, '-o', 'table']);
    expect(code).toBe(0);
    expect(stdout).toBe(
      [
        // A terminal of 80 columns shows each line as a whole, or cuts the duration.
        'KIND     MESSAGE',
        'covered  nothing is missing: 2026-01-05 20:00:00Z to 2026-01-05 21:00:00Z (1h)',
        'covered  nothing is missing: 2026-01-05 22:00:00Z to 2026-01-05 23:00:00Z (1h)',
        'gap      entries may be missing: 2026-01-05 21:00:00Z to 2026-01-05 22:00:00Z (1h)',
        '',
        `tenant ${TENANT} of https://vault.example`,
        '40 entries in 1 segment',
        `newest hash: ${links.at(-1)?.sha256}`,
        'archive intact: nothing changed, removed, reordered, truncated or added',
        '',
      ].join('\n'),
    );
  });

  it('svc logs verify shows people the newest of several signed reviews, and programs each', async () => {
    const { top } = await buildArchive(Date.UTC(2026, 0, 5), [{ to: Date.UTC(2026, 0, 6) }]);
    const clock = new FakeClock({ start: END + 26 * HOUR });
    for (const by of ['Ana', 'Ben'])
      await svcHere(['logs', 'review', top, '--day', '2026-01-05', '--sign-off', '--by', by], { clock });
    const { stdout } = await verifyAt(END + 26 * HOUR, top, '-o', 'table');
    expect(stdout.match(/^review .*$/gm)).toEqual([
      expect.stringMatching(/: 2 signed reviews, the newest: .* signed off by Ben/),
    ]);
    const { stdout: lines } = await verifyAt(END + 26 * HOUR, top, '-o', 'jsonl');
    expect(rowsIn(lines).filter(({ kind }) => kind === 'review')).toHaveLength(2);
  });

  it('svc logs verify prints rows of findings, coverage, gaps, and last the archive, all with the same members', async () => {
    const { top, links } = await archive(true);
    fs.writeFileSync(path.join(top, '_manifest/extra.json'), '{}');
    const { code, stdout, stderr } = await svcHere(['logs', 'verify', top]);
    const rows = rowsIn(stdout);
    expect(code).toBe(12);
    expect(rows.map(({ kind }) => kind)).toEqual(['finding', 'covered', 'covered', 'gap', 'archive']);
    expect(rows[0]).toMatchObject({ problem: 'unlisted', path: '_manifest/extra.json' });
    expect(rows.at(-1)).toMatchObject({ entries: 40, segments: 1, records: 4, sha256: links.at(-1)?.sha256 });
    expect(new Set(rows.map((row) => Object.keys(row).join()))).toHaveLength(1);
    expect(errorIn({ stderr })).toMatchObject({ code: 'checksum_mismatch', findings: 1 });
  });

  it('svc logs verify shows findings as a table, and their number', async () => {
    const { top } = await archive();
    const segment = filesIn(top).find((file) => file.startsWith('tenant=')) ?? '';
    fs.truncateSync(path.join(top, segment), 10);
    const { code, stdout } = await svcHere(['logs', 'verify', top, '-o', 'table']);
    expect(code).toBe(12);
    expect(stdout).toMatch(/^KIND +PATH +MESSAGE\ncut +tenant=/);
    expect(stdout).toContain('archive damaged: 1 problem\n');
  });

  describe('beside a run that writes', () => {
    const holder = { pid: process.pid, isAlive: () => true, signal: new AbortController().signal };

    it('svc logs verify waits for the record of a run that holds the lock, and finds nothing', async () => {
      const { top, commit } = await beginCommit();
      const clock = new FakeClock({ auto: false });
      await withLock(path.join(top, '.lock'), { ...holder, clock }, async () => {
        const run = svcHere(['logs', 'verify', top], { clock });
        while (clock.sleeping === 0) await new Promise((resolve) => setImmediate(resolve));
        commit();
        await clock.advance(500);
        expect(await run).toMatchObject({ code: 0, stderr: '' });
      });
    });

    it('svc logs verify names what a killed run left without waiting, and does not call it damage', async () => {
      const { top } = await beginCommit();
      const clock = new FakeClock();
      const found = await svcHere(['logs', 'verify', top], { clock });
      expect([found.code, clock.slept]).toEqual([12, []]);
      expect(rowsIn(found.stdout)[0]).toMatchObject({
        problem: 'unlisted',
        message: expect.stringContaining('killed'),
      });
      expect(errorIn(found)).toMatchObject({
        message: `the archive at ${top} has 1 file that no record names`,
        next: `svc logs archive ${top}`,
      });
      const shown = await svcHere(['logs', 'verify', top, '-o', 'table']);
      expect(shown.stdout).toMatch(/\nnot named by a record: 1 file; everything else is intact\n$/);
    });

    it('svc logs verify waits 30 s for a run that holds the lock', async () => {
      const { top } = await beginCommit();
      const clock = new FakeClock();
      await withLock(path.join(top, '.lock'), { ...holder, clock }, async () => {
        const found = await svcHere(['logs', 'verify', top], { clock });
        expect([found.code, clock.slept.reduce((sum, ms) => sum + ms, 0)]).toEqual([12, 30_000]);
      });
    });
  });

  it('svc logs verify says that a file which nobody names can be moved away', async () => {
    const { top } = await buildArchive(START, [{ to: START + HOUR }]);
    for (const name of ['_index/junk', '_manifest/junk', 'junk']) {
      fs.mkdirSync(path.dirname(path.join(top, name)), { recursive: true });
      fs.writeFileSync(path.join(top, name), 'x');
    }
    const found = await svcHere(['logs', 'verify', top]);
    expect(found.code).toBe(12);
    expect(errorIn(found)).toMatchObject({
      message: `the archive at ${top} has 3 files that no record names`,
      hint: expect.stringContaining('Everything else is intact. Move them out of the archive'),
    });
  });

  it('svc logs verify counts only entries that it read, and calls nothing whole by a record whose file is missing', async () => {
    const entries = (day: number) => [
      { tenant_id: TENANT, created_at: new Date(START + day * 24 * HOUR).toISOString() },
    ];
    const { top } = await buildArchive(START, [
      { to: START + HOUR, entries: entries(0) },
      { to: START + 25 * HOUR, entries: [...entries(1), ...entries(1)] },
    ]);
    const segment = filesIn(top).find((file) => /^tenant=.*date=2026-01-06/.test(file)) ?? '';
    fs.rmSync(path.join(top, segment));
    const { stdout, stderr } = await svcHere(['logs', 'verify', top]);
    expect(rowsIn(stdout)).toMatchObject([
      { kind: 'finding', problem: 'missing', path: segment },
      { kind: 'covered', message: 'covered according to the records' },
      {
        kind: 'archive',
        message: '1 entry in 1 segment; 2 entries not read, see the findings',
        entries: 1,
        segments: 1,
      },
    ]);
    expect(errorIn({ stderr })['next']).toBe(`svc logs verify ${top}`);
    const shown = await svcHere(['logs', 'verify', top, '-o', 'table']);
    expect(shown.stdout).toMatch(/1 entry in 1 segment; 2 entries not read, see the findings\n/);
    expect(shown.stdout).toMatch(/\ncovered +- +covered according to the records: 2026-01-05 20:00:00Z to .*\n/);
  });

  it('svc logs verify exits with 14 for a gap with --strict', async () => {
    const { top } = await archive(true);
    expect((await svcHere(['logs', 'verify', top])).code).toBe(0);
    const strict = await svcHere(['logs', 'verify', top, '--strict']);
    expect([strict.code, errorIn(strict)['code']]).toEqual([14, 'entries_missing']);
    const whole = await archive();
    expect((await svcHere(['logs', 'verify', whole.top, '--strict'])).code).toBe(0);
  });

  it('svc logs verify --expect compares the chain with a saved hash', async () => {
    const { top, links } = await archive();
    const noted = links[1]?.sha256.toUpperCase() ?? '';
    expect((await svcHere(['logs', 'verify', top, '--expect', noted])).code).toBe(0);
    const other = await svcHere(['logs', 'verify', top, '--expect', 'a'.repeat(64)]);
    expect(other.code).toBe(12);
    expect(rowsIn(other.stdout)[0]).toMatchObject({ problem: 'rewritten' });
    expect((await svcHere(['logs', 'verify', top, '--expect', 'abc'])).code).toBe(2);
  });

  it('svc logs verify distinguishes a location without an archive from one whose manifest is gone', async () => {
    const nothing = await svcHere(['logs', 'verify', temporaryDirectory()]);
    expect([nothing.code, nothing.stdout, errorIn(nothing)['code']]).toEqual([5, '', 'not_found']);
    expect((await svcHere(['logs', 'verify', path.join(temporaryDirectory(), 'none')])).code).toBe(5);
    const { top } = await archive();
    fs.rmSync(path.join(top, '_manifest'), { recursive: true });
    const gone = await svcHere(['logs', 'verify', top]);
    expect(gone.code).toBe(12);
    expect(rowsIn(gone.stdout)[0]).toMatchObject({ problem: 'unlisted' });
  });

  it('svc logs verify refuses an archive that a newer version wrote', async () => {
    const { top } = await archive();
    const record = path.join(top, '_manifest/00000001.json');
    fs.writeFileSync(record, fs.readFileSync(record, 'utf8').replace('"version":2', '"version":3'));
    const { code, stderr } = await svcHere(['logs', 'verify', top]);
    expect([code, errorIn({ stderr })['hint']]).toEqual([3, 'Update svc on this machine.']);
  });

  it.skipIf(process.getuid?.() === 0)('svc logs verify names a file that it may not read', async () => {
    const { top } = await archive();
    const segment = filesIn(top).find((file) => file.startsWith('tenant=')) ?? '';
    fs.chmodSync(path.join(top, segment), 0);
    const { code, stderr } = await svcHere(['logs', 'verify', top]);
    expect([code, errorIn({ stderr })['message']]).toEqual([
      1,
      expect.stringContaining('may not be read by this user'),
    ]);
  });

  it('R76: svc logs verify finds an archive that stopped, by its manifest alone, and states since when', async () => {
    const { top } = await archive();
    expect((await verifyAt(END + 9 * 24 * HOUR, top, '--strict')).code).toBe(0);
    const segment = filesIn(top).find((file) => file.startsWith('tenant=')) ?? '';
    const bytes = fs.readFileSync(path.join(top, segment));
    fs.writeFileSync(path.join(top, segment), bytes.fill(0));
    const fresh = await verifyAt(END + 2 * HOUR, top, '--manifest-only', '--max-age', '2h');
    expect([fresh.code, rowsIn(fresh.stdout).map(({ kind }) => kind)]).toEqual([0, ['covered', 'archive']]);
    const stale = await verifyAt(END + 2 * HOUR + 1, top, '--manifest-only', '--max-age', '2h');
    expect([stale.code, errorIn(stale)['code']]).toEqual([14, 'entries_missing']);
    expect(rowsIn(stale.stdout)[0]).toMatchObject({
      kind: 'missing',
      message: 'not archived yet',
      from: '2026-01-05T23:00:00.000Z',
      to: '2026-01-06T01:00:00.001Z',
    });
    expect(errorIn(stale)['message']).toContain('lacks 2026-01-05 23:00:00Z to 2026-01-06 01:00:00Z');
  });

  it('R76: svc logs verify also prints and counts the findings of a stopped archive, and exits with 12', async () => {
    const { top } = await archive();
    fs.writeFileSync(path.join(top, '_manifest/extra.json'), '{}');
    const { code, stdout, stderr } = await verifyAt(END + 5 * HOUR, top, '--max-age', '2h');
    expect([
      code,
      rowsIn(stdout)
        .map(({ kind }) => kind)
        .slice(0, 2),
    ]).toEqual([12, ['missing', 'finding']]);
    expect(errorIn({ stderr })).toMatchObject({ findings: 1, missing: [{ reason: 'not archived yet' }] });
  });

  it.each([
    ['2026-01-05T20:00:00Z', 1, 0, []],
    ['2h', 1, 0, []],
    ['6h', 2, 14, ['before the archive']],
    ['2026-01-04', 25, 14, ['before the archive', 'not archived yet']],
    ['1h', 2, 14, ['not archived yet']],
    ['99999999d', 1, 14, ['before the archive']],
  ])(
    'R76: svc logs verify --covers %s judges an archive of 3 hours that ended %i hours ago',
    async (covers, hours, code, reasons) => {
      const { top } = await archive();
      const found = await verifyAt(END + hours * HOUR, top, '--manifest-only', '--covers', covers);
      const missing = rowsIn(found.stdout).filter(({ kind }) => kind === 'missing');
      expect([found.code, missing.map(({ message }) => message)]).toEqual([code, reasons]);
      // Another run of logs archive adds nothing before the archive begins.
      const isLate = reasons.includes('not archived yet');
      expect(found.stderr.includes('"next":"svc logs archive ')).toBe(isLate);
    },
  );

  it('R76: svc logs verify --covers names a gap within the required range, and none before it', async () => {
    const { top } = await archive(true);
    const within = await verifyAt(END, top, '--covers', '3h', '-o', 'table');
    expect([within.code, within.stdout]).toEqual([
      14,
      expect.stringMatching(/missing +gap: 2026-01-05 21:00:00Z to 2026-01-05 22:00:00Z \(1h\)\n/),
    ]);
    const after = await verifyAt(END, top, '--covers', '1h', '-o', 'table');
    expect([after.code, after.stdout]).toEqual([
      0,
      expect.stringContaining(
        'everything since 2026-01-05 22:00:00Z is archived; the log was last read at most 1d before 2026-01-05 23:00:00Z\n',
      ),
    ]);
  });

  it('R76: svc logs verify --covers names a gap at the end, after which nothing was read', async () => {
    const { top } = await buildArchive(START, [{ to: START + HOUR }, { to: START + 3 * HOUR, gap: true }]);
    const found = await verifyAt(END + HOUR, top, '--covers', '4h', '-o', 'table');
    expect([found.code, found.stdout]).toEqual([
      14,
      expect.stringMatching(/missing +gap: 2026-01-05 21:00:00Z to 2026-01-05 23:00:00Z \(2h\)\n/),
    ]);
    expect(found.stdout).not.toContain('is archived');
  });

  it('R76: svc logs verify --max-age counts a run that found nothing new, but not one that read nothing', async () => {
    const quiet = await buildArchive(START, [{ to: START + HOUR }, { to: START + 30 * HOUR }]);
    expect((await verifyAt(START + 31 * HOUR, quiet.top, '--max-age', '2h')).code).toBe(0);
    const begun = await buildArchive(START, []);
    expect((await verifyAt(START, begun.top, '--max-age', '2h')).code).toBe(14);
  });

  it('svc logs verify refuses an archive that ends long after the time of this machine, and a requirement in the future', async () => {
    const { top } = await archive();
    const ahead = await verifyAt(END - 3 * HOUR, top, '--max-age', '2h');
    expect([ahead.code, errorIn(ahead)]).toEqual([
      14,
      expect.objectContaining({ message: expect.stringContaining('check the clock'), next: 'svc doctor' }),
    ]);
    expect((await verifyAt(START, top, '--covers', '2026-02-01')).code).toBe(2);
  });

  it('svc logs verify judges by the readable records when the manifest is damaged', async () => {
    const { top } = await archive();
    fs.writeFileSync(path.join(top, '_manifest/head.json'), 'x');
    const { code, stdout } = await verifyAt(END + 5 * HOUR, top, '--max-age', '2h');
    expect([code, rowsIn(stdout).map(({ kind }) => kind)]).toEqual([12, ['finding', 'missing', 'covered', 'archive']]);
  });

  it('R76: svc logs verify --manifest-only calls nothing whole, since a segment that was changed in place is not read', async () => {
    const { top } = await archive();
    const segment = path.join(top, filesIn(top).find((file) => file.startsWith('tenant=')) ?? '');
    fs.writeFileSync(segment, Buffer.alloc(fs.statSync(segment).size));
    const said = async (...more: string[]) => (await verifyAt(END, top, '--manifest-only', ...more)).stdout;
    expect((await verifyAt(END, top)).code).toBe(12);
    expect(rowsIn(await said())).toMatchObject([
      { kind: 'covered', message: 'covered according to the records' },
      { kind: 'archive', message: expect.stringContaining('according to the records; no segment was read') },
    ]);
    const shown = await said('--covers', '1h', '-o', 'table');
    expect(shown).toContain('\naccording to the records, everything since ');
    const late = await verifyAt(END + 5 * HOUR, top, '--manifest-only', '--max-age', '2h');
    expect([late.code, errorIn(late)['hint']]).toEqual([
      14,
      expect.stringMatching(/^The records are intact; no segment was read\. /),
    ]);
    const { top: lacking } = await archive(true);
    const gaps = await verifyAt(END, lacking, '--manifest-only', '--strict');
    expect([gaps.code, errorIn(gaps)['hint']]).toEqual([
      14,
      expect.stringMatching(/^The records are intact; no segment was read\. /),
    ]);
    fs.writeFileSync(path.join(top, '_manifest', 'left.json'), '{}');
    expect(await said('-o', 'table')).not.toMatch(/everything else is intact|nothing is missing/);
  });

  it('R76: svc logs verify --manifest-only compares the names and sizes of files, and reads none of them', async () => {
    const { top } = await archive();
    const segment = path.join(top, filesIn(top).find((file) => file.startsWith('tenant=')) ?? '');
    const shown = await svcHere(['logs', 'verify', top, '--manifest-only', '-o', 'table']);
    expect(shown.stdout).toContain('records intact, and the files that they name are there with their sizes');
    expect(shown.stdout).toMatch(/ entr(y|ies) in \d+ segments? according to the records; no segment was read\n/);
    expect(shown.stdout).toMatch(/\ncovered +covered according to the records: .*\n/);
    fs.truncateSync(segment, 10);
    expect(rowsIn((await svcHere(['logs', 'verify', top, '--manifest-only'])).stdout)[0]).toMatchObject({
      problem: 'cut',
    });
    fs.rmSync(segment);
    const gone = await svcHere(['logs', 'verify', top, '--manifest-only']);
    expect([gone.code, rowsIn(gone.stdout)[0]]).toEqual([12, expect.objectContaining({ problem: 'missing' })]);
  });
});
