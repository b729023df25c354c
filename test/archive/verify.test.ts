import fs from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendRecord } from '../../src/archive/chain.ts';
import type { Finding } from '../../src/archive/finding.ts';
import { recordPath } from '../../src/archive/record.ts';
import { type VerifyOptions, Verification } from '../../src/archive/verify.ts';
import type { Log } from '../../src/schema/log.ts';
import { buildArchive, type Commit, filesIn, openStore, TENANT, writeSegment } from './build.ts';
import { MUTATIONS } from './mutations.ts';

const START = Date.UTC(2026, 0, 5, 20);
const HOUR = 3_600_000;
const HEAD = '_manifest/head.json';

function logs(from: number, count: number, everyMs = 60_000): Log[] {
  return Array.from({ length: count }, (_, index) => ({
    tenant_id: TENANT,
    entity_type: 'card',
    operation: 'read',
    message: `entry ${from} ${index}`,
    created_at: new Date(START + from + index * everyMs).toISOString(),
  }));
}

/** Three days with late entries, one without a time, and a gap. */
const COMMITS: readonly Commit[] = [
  { to: START + HOUR, entries: logs(0, 50) },
  { to: START + 6 * HOUR, entries: logs(HOUR, 290), late: logs(60_000, 2) },
  { to: START + 7 * HOUR, gap: true },
  {
    to: START + 30 * HOUR,
    entries: [...logs(8 * HOUR, 3, HOUR), { created_at: 'lately', message: 'no time' }],
  },
  { to: START + 31 * HOUR },
];

async function verified(top: string, options: VerifyOptions = {}) {
  const verification = new Verification(openStore(top), options);
  const findings: Finding[] = [];
  for await (const batch of verification.findings()) findings.push(...batch);
  return { findings, ...verification.result() };
}

function problems({ findings }: { findings: readonly Finding[] }): string[] {
  return findings.map(
    ({ problem, path: where }) => `${problem} ${where.replace(/-[0-9a-f]{12}\.jsonl/, '.jsonl')}`,
  );
}

describe('verifying an archive', () => {
  it('finds nothing wrong with what was written, and tells coverage, gaps, counts and newest hash', async () => {
    const { top, links } = await buildArchive(START, COMMITS);
    const { findings, coverage, begin, ...counts } = await verified(top);
    expect(findings).toEqual([]);
    expect(begin?.tenant_id).toBe(TENANT);
    expect(coverage.covered()).toEqual([
      { from: START, to: START + 6 * HOUR },
      { from: START + 7 * HOUR, to: START + 31 * HOUR },
    ]);
    expect(coverage.gaps()).toEqual([{ from: START + 6 * HOUR, to: START + 7 * HOUR }]);
    expect(counts).toMatchObject({ records: 6, segments: 6, entries: 346, sha256: links.at(-1)?.sha256 });
  });

  it('finds nothing wrong with an archive without entries, or where a crash left the head behind', async () => {
    const empty = await buildArchive(START, []);
    expect(await verified(empty.top)).toMatchObject({ findings: [], records: 1, entries: 0 });
    const { top, links } = await buildArchive(START, COMMITS);
    const { sha256 } = links[3]!;
    fs.writeFileSync(path.join(top, HEAD), `${JSON.stringify({ version: 1, sequence: 3, sha256 })}\n`);
    expect((await verified(top)).findings).toEqual([]);
  });

  it.each(Object.entries(MUTATIONS))(
    'R33 finds any harm: %s',
    async (_what, harm) => {
      const { top } = await buildArchive(START, COMMITS);
      const files = filesIn(top);
      const before = new Map(files.map((file) => [file, fs.readFileSync(path.join(top, file))]));
      const place = fc.nat();
      await fc.assert(
        fc.asyncProperty(place, place, fc.integer({ min: 1, max: 255 }), async (one, other, byte) => {
          try {
            fc.pre(harm(top, files, { one, other, byte }));
            expect((await verified(top)).findings.length).toBeGreaterThan(0);
          } finally {
            for (const file of filesIn(top)) if (!before.has(file)) fs.rmSync(path.join(top, file));
            for (const [file, bytes] of before) fs.writeFileSync(path.join(top, file), bytes);
          }
        }),
        { numRuns: process.env['SOAK'] === '1' ? 300 : 10 },
      );
      expect((await verified(top)).findings).toEqual([]);
    },
    process.env['SOAK'] === '1' ? 900_000 : 120_000,
  );

  it('names the file and what is wrong with it', async () => {
    const { top } = await buildArchive(START, COMMITS);
    const [segment, later] = filesIn(top).filter((file) => file.startsWith('tenant='));
    const at = path.join(top, segment!);
    const bytes = fs.readFileSync(at);
    fs.writeFileSync(at, bytes.subarray(0, -1));
    fs.rmSync(path.join(top, later!));
    fs.writeFileSync(path.join(top, `tenant=${TENANT}/date=2026-01-05/part-99999999.jsonl.gz`), bytes);
    const found = await verified(top);
    expect(problems(found).toSorted()).toEqual([
      `cut tenant=${TENANT}/date=2026-01-05/part-00000001.jsonl.gz`,
      `missing tenant=${TENANT}/date=2026-01-05/part-00000002.jsonl.gz`,
      `unlisted tenant=${TENANT}/date=2026-01-05/part-99999999.jsonl.gz`,
    ]);
  });

  it('finds several missing records as one, and goes on behind them', async () => {
    const { top } = await buildArchive(START, COMMITS);
    for (const sequence of [1, 2, 3]) fs.rmSync(path.join(top, recordPath(sequence)));
    const found = await verified(top);
    expect(problems(found)[0]).toBe('missing _manifest/00000001.json');
    expect(found.findings[0]?.message).toContain('all 2 records up to _manifest/00000003.json');
    expect(found.records).toBe(3);
  });

  it('needs the hash that was noted down to find that the end was taken away without a trace', async () => {
    const { top, links } = await buildArchive(START, COMMITS);
    const [last, before] = [links.at(-1)!, links.at(-2)!];
    fs.rmSync(path.join(top, last.path));
    const head = { version: 1, sequence: before.record.sequence, sha256: before.sha256 };
    fs.writeFileSync(path.join(top, HEAD), `${JSON.stringify(head)}\n`);
    expect((await verified(top)).findings).toEqual([]);
    expect((await verified(top, { expect: before.sha256 })).findings).toEqual([]);
    expect(problems(await verified(top, { expect: last.sha256 }))).toEqual([`rewritten ${top}`]);
  });

  it('finds what a forger put into a chain that fits', async () => {
    const { top, store, links } = await buildArchive(START, COMMITS);
    const written = writeSegment(top, {
      number: 6,
      day: '2026-01-07',
      logs: logs(40 * HOUR, 5),
      supplementary: false,
    });
    const { standing } = links.at(-1)!.record;
    await store.lock(() =>
      appendRecord(store, links.at(-1), {
        kind: 'segments',
        segments: [{ ...written, entries: 4, last: written.first }],
        read_from: new Date(START + 31 * HOUR).toISOString(),
        read_to: new Date(START + 50 * HOUR).toISOString(),
        written_at: new Date(START).toISOString(),
        standing,
      }),
    );
    const found = await verified(top);
    expect(found.findings.map(({ message }) => message)).toEqual([
      'it holds 5 entries, and the manifest says 4',
    ]);
  });

  it('does not take for foreign what a run under way commits meanwhile', async () => {
    const { top, store, links } = await buildArchive(START, COMMITS);
    const written = writeSegment(top, {
      number: 6,
      day: '2026-01-07',
      logs: logs(40 * HOUR, 5),
      supplementary: false,
    });
    expect((await verified(top)).findings).toMatchObject([
      { problem: 'unlisted', message: expect.stringContaining("'svc logs archive' takes it away") as string },
    ]);
    const verification = new Verification(store);
    const findings: Finding[] = [];
    let committed = false;
    for await (const batch of verification.findings()) {
      findings.push(...batch);
      if (committed) continue;
      committed = true;
      await store.lock(() =>
        appendRecord(store, links.at(-1), {
          kind: 'segments',
          segments: [written],
          read_from: new Date(START + 31 * HOUR).toISOString(),
          read_to: new Date(START + 50 * HOUR).toISOString(),
          written_at: new Date(START).toISOString(),
          standing: links.at(-1)!.record.standing,
        }),
      );
    }
    expect(findings).toEqual([]);
  });
});
