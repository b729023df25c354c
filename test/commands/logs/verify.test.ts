import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { buildArchive, filesIn, TENANT } from '../../logs/archive/build.ts';
import { errorIn, svcHere } from '../../support/run-here.ts';

const START = Date.UTC(2026, 0, 5, 20);
const HOUR = 3_600_000;

function archive(withGap = false) {
  const entries = Array.from({ length: 40 }, (_, index) => ({
    tenant_id: TENANT,
    message: `entry ${index}`,
    created_at: new Date(START + index * 1000).toISOString(),
  }));
  const gap = withGap ? [{ to: START + 2 * HOUR, gap: true }] : [];
  return buildArchive(START, [{ to: START + HOUR, entries }, ...gap, { to: START + 3 * HOUR }]);
}

function emptyDirectory(): string {
  const top = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-no-archive-'));
  onTestFinished(() => fs.rmSync(top, { recursive: true, force: true }));
  return top;
}

function rowsOf(stdout: string): Record<string, unknown>[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('svc logs verify', () => {
  it('shows people what is covered, the newest hash, and that the archive is intact', async () => {
    const { top, links } = await archive(true);
    const { code, stdout } = await svcHere(['logs', 'verify', top, '-o', 'table']);
    expect(code).toBe(0);
    expect(stdout.replace(/\d+ B/, 'n B')).toBe(
      [
        `tenant ${TENANT} of https://vault.example`,
        '40 entries in 1 segment, n B',
        'covered: 2026-01-05 20:00:00Z to 2026-01-05 21:00:00Z (1h)',
        'covered: 2026-01-05 22:00:00Z to 2026-01-05 23:00:00Z (1h)',
        'gap, entries may be missing: 2026-01-05 21:00:00Z to 2026-01-05 22:00:00Z (1h)',
        `newest hash: ${links.at(-1)?.sha256}`,
        'archive intact: nothing changed, removed, reordered, truncated or added',
        '',
      ].join('\n'),
    );
  });

  it('gives programs a row a finding, coverage, gaps, and the archive last, all with the same members', async () => {
    const { top, links } = await archive(true);
    fs.writeFileSync(path.join(top, '_manifest/extra.json'), '{}');
    const { code, stdout, stderr } = await svcHere(['logs', 'verify', top]);
    const rows = rowsOf(stdout);
    expect(code).toBe(12);
    expect(rows.map(({ kind }) => kind)).toEqual(['finding', 'covered', 'covered', 'gap', 'archive']);
    expect(rows[0]).toMatchObject({ problem: 'unlisted', path: '_manifest/extra.json' });
    expect(rows.at(-1)).toMatchObject({ entries: 40, segments: 1, records: 4, sha256: links.at(-1)?.sha256 });
    expect(new Set(rows.map((row) => Object.keys(row).join()))).toHaveLength(1);
    expect(errorIn({ stderr })).toMatchObject({ code: 'checksum_mismatch', findings: 1 });
  });

  it('shows findings as a table, and how many there are', async () => {
    const { top } = await archive();
    const segment = filesIn(top).find((file) => file.startsWith('tenant=')) ?? '';
    fs.truncateSync(path.join(top, segment), 10);
    const { code, stdout } = await svcHere(['logs', 'verify', top, '-o', 'table']);
    expect(code).toBe(12);
    expect(stdout).toMatch(/^PROBLEM +PATH +MESSAGE\ncut +tenant=/);
    expect(stdout).toContain('archive damaged: 1 problem\n');
  });

  it('ends with 14 for a gap, if that was asked for', async () => {
    const { top } = await archive(true);
    expect((await svcHere(['logs', 'verify', top])).code).toBe(0);
    const strict = await svcHere(['logs', 'verify', top, '--strict']);
    expect([strict.code, errorIn(strict)['code']]).toEqual([14, 'entries_missing']);
    const whole = await archive();
    expect((await svcHere(['logs', 'verify', whole.top, '--strict'])).code).toBe(0);
  });

  it('holds the chain against a hash that was noted down', async () => {
    const { top, links } = await archive();
    const noted = links[1]?.sha256.toUpperCase() ?? '';
    expect((await svcHere(['logs', 'verify', top, '--expect', noted])).code).toBe(0);
    const other = await svcHere(['logs', 'verify', top, '--expect', 'a'.repeat(64)]);
    expect(other.code).toBe(12);
    expect(rowsOf(other.stdout)[0]).toMatchObject({ problem: 'rewritten' });
    expect((await svcHere(['logs', 'verify', top, '--expect', 'abc'])).code).toBe(2);
  });

  it('distinguishes a location without an archive from one whose manifest is gone', async () => {
    const nothing = await svcHere(['logs', 'verify', emptyDirectory()]);
    expect([nothing.code, nothing.stdout, errorIn(nothing)['code']]).toEqual([5, '', 'not_found']);
    expect((await svcHere(['logs', 'verify', path.join(emptyDirectory(), 'none')])).code).toBe(5);
    const { top } = await archive();
    fs.rmSync(path.join(top, '_manifest'), { recursive: true });
    const gone = await svcHere(['logs', 'verify', top]);
    expect(gone.code).toBe(12);
    expect(rowsOf(gone.stdout)[0]).toMatchObject({ problem: 'unlisted' });
  });

  it('leaves alone what a newer svc wrote', async () => {
    const { top } = await archive();
    const record = path.join(top, '_manifest/00000001.json');
    fs.writeFileSync(record, fs.readFileSync(record, 'utf8').replace('"version":2', '"version":3'));
    const { code, stderr } = await svcHere(['logs', 'verify', top]);
    expect([code, errorIn({ stderr })['hint']]).toEqual([3, 'Update svc on this machine.']);
  });

  it.skipIf(process.getuid?.() === 0)('says which file may not be read', async () => {
    const { top } = await archive();
    const segment = filesIn(top).find((file) => file.startsWith('tenant=')) ?? '';
    fs.chmodSync(path.join(top, segment), 0);
    const { code, stderr } = await svcHere(['logs', 'verify', top]);
    expect([code, errorIn({ stderr })['message']]).toEqual([1, expect.stringContaining('EACCES')]);
  });
});
