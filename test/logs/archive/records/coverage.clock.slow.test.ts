import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { machineAhead } from '../../../../src/client/http/service-clock.ts';
import { FakeClock } from '../../../support/clock.ts';
import { rowsIn, svcHere } from '../../../support/run-here.ts';
import { startLogServer } from '../../commands/log-server.ts';
import { bundleOf } from '../../prove/bundles.ts';
import { temporaryDirectory } from '../../../support/directory.ts';

/** The service's time in these tests. */
const NOW = Date.UTC(2026, 0, 5, 12);
const TENANT = 't-1';

/** A directory for an archive and a service with a few entries, whose clock stands still. */
async function place() {
  const top = temporaryDirectory();
  const server = await startLogServer();
  server.now = new Date(NOW).toISOString();
  server.logs.push({ tenant_id: TENANT, message: 'one', created_at: new Date(NOW - 3_600_000).toISOString() });
  const audit = path.join(top, 'audit');
  return {
    audit,
    manifest: path.join(audit, '_manifest'),
    /** Archives with a machine's clock that is ahead of the service's by so many milliseconds. */
    archive: (aheadMs: number) =>
      svcHere(['logs', 'archive', audit], {
        baseUrl: new URL(server.url),
        clock: new FakeClock({ start: NOW + aheadMs }),
      }),
  };
}

interface Written {
  readonly kind: string;
  readonly written_at: string;
  readonly clock_ahead_ms?: number;
}

function recordsIn(manifest: string): Written[] {
  const names = fs.readdirSync(manifest).filter((name) => /^\d+\.json$/.test(name));
  return names.toSorted().map((name) => JSON.parse(fs.readFileSync(path.join(manifest, name), 'utf8')) as Written);
}

async function verified(audit: string) {
  const { code, stdout } = await svcHere(['logs', 'verify', audit]);
  return { code, rows: rowsIn(stdout) };
}

async function evidencePageOf(audit: string): Promise<string> {
  const { top } = await bundleOf({ top: audit });
  return fs.readFileSync(path.join(top, 'report.html'), 'utf8');
}

describe('the clock on record', () => {
  it.each([
    [300_000, '5m', 'ahead of'],
    [-7_200_000, '2h', 'behind'],
  ])('a record says by how much the clock of the machine differs: %i ms', async (aheadMs, span, direction) => {
    const { audit, manifest, archive } = await place();
    expect((await archive(aheadMs)).code).toBe(0);
    const records = recordsIn(manifest);
    expect(records.map(({ kind }) => kind)).toEqual(['begin', 'segments']);
    for (const record of records) {
      expect(record.written_at.slice(0, 18)).toBe('2026-01-05T12:00:0');
      expect(Math.abs((record.clock_ahead_ms ?? 0) - aheadMs)).toBeLessThanOrEqual(500);
    }
    const { code, rows } = await verified(audit);
    expect(code).toBe(0);
    expect(rows.find(({ kind }) => kind === 'clock')).toMatchObject({
      message: `the clock of the archiving machine was up to ${span} ${direction} the service's in 2 records`,
      records: 2,
      from: records[0]?.written_at,
      to: records[1]?.written_at,
    });
    expect((await svcHere(['logs', 'verify', audit, '-o', 'table'])).stdout).toContain(`up to ${span} ${direction}`);
    expect(await evidencePageOf(audit)).toContain('differed from the service, see below');
  });

  it.each([0, 999, 1_900, -900])('a record says nothing of a difference of %i ms', async (aheadMs) => {
    const { audit, manifest, archive } = await place();
    await archive(aheadMs);
    for (const record of recordsIn(manifest)) expect(record).not.toHaveProperty('clock_ahead_ms');
    expect((await verified(audit)).rows.map(({ kind }) => kind)).not.toContain('clock');
    expect(await evidencePageOf(audit)).toContain('within two seconds of the service');
  });

  it('R77: a changed, added or removed difference in a record is a finding of verify', async () => {
    const changes = [
      (text: string) => text.replace(/"clock_ahead_ms":\d+/, '"clock_ahead_ms":1'),
      (text: string) => text.replace(/,"clock_ahead_ms":\d+/, ''),
    ];
    for (const change of changes) {
      for (const name of ['00000000.json', '00000001.json']) {
        const { audit, manifest, archive } = await place();
        await archive(300_000);
        const file = path.join(manifest, name);
        const before = fs.readFileSync(file, 'utf8');
        fs.writeFileSync(file, change(before));
        expect(fs.readFileSync(file, 'utf8')).not.toBe(before);
        const { code, rows } = await verified(audit);
        expect({ name, code }).toEqual({ name, code: 12 });
        expect(rows.some(({ kind }) => kind === 'finding')).toBe(true);
      }
    }
  });

  it('a slow response proves no difference of the clocks', () => {
    expect(machineAhead(NOW, NOW + 100, NOW + 9_000)).toBe(0);
    expect(machineAhead(NOW, NOW - 8_000, NOW + 100)).toBe(0);
    expect(machineAhead(NOW, NOW + 5_500, NOW + 5_500)).toBe(5_001);
    expect(machineAhead(NOW, NOW - 5_000, NOW - 4_000)).toBeLessThan(-4_000);
  });
});
