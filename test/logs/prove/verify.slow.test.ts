import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSvcError } from '../../../src/base/errors.ts';
import { sha256Of } from '../../../src/base/files/draft.ts';
import { appendRecord, type Finding } from '../../../src/logs/archive/records/chain.ts';
import { type ArchiveRecord, recordPath, recordText } from '../../../src/logs/archive/records/record.ts';
import { nothingVerified, verifyArchive, type VerifyOptions } from '../../../src/logs/prove/verify.ts';
import type { Log } from '../../../src/schema/log.ts';
import { buildArchive, type Commit, filesIn, openStore, TENANT, writeSegment } from '../archive/build.ts';

const START = Date.UTC(2026, 0, 5, 20);
const HOUR = 3_600_000;
const HEAD = '_manifest/head.json';

function logs(from: number, count: number, everyMs = 60_000, tenant = TENANT): Log[] {
  return Array.from({ length: count }, (_, index) => ({
    tenant_id: tenant,
    entity_type: 'card',
    operation: 'read',
    message: `entry ${from} ${index}`,
    created_at: new Date(START + from + index * everyMs).toISOString(),
  }));
}

/** Commits of three days with late entries, an entry without a time, and a gap. */
const COMMITS: readonly Commit[] = [
  { to: START + HOUR, entries: logs(0, 50) },
  { to: START + 6 * HOUR, entries: logs(HOUR, 290), late: logs(60_000, 2) },
  { to: START + 7 * HOUR, gap: true },
  {
    to: START + 30 * HOUR,
    entries: [...logs(8 * HOUR, 3, HOUR), { created_at: 'lately', message: 'no time' }],
    passed: 30,
  },
  { to: START + 31 * HOUR, passed: 30 },
];

async function verified(top: string, options: VerifyOptions = {}) {
  const verification = nothingVerified();
  const findings: Finding[] = [];
  for await (const batch of verifyArchive(openStore(top), options, verification)) findings.push(...batch);
  return { findings, ...verification };
}

function problems({ findings }: { findings: readonly Finding[] }): string[] {
  return findings.map(({ problem, path: where }) => `${problem} ${where.replace(/-[0-9a-f]{12}\.jsonl/, '.jsonl')}`);
}

/** Whether verifying finds anything. One byte can make a record one of version 11, which only a newer svc can judge. */
async function harmIn(top: string): Promise<boolean> {
  try {
    return (await verified(top)).findings.length > 0;
  } catch (error) {
    if (isSvcError(error, 'config')) return true;
    throw error;
  }
}

/** Edits the records as a forger would, and makes all hashes of the chain and its head match again. */
function forge(top: string, edit: (record: ArchiveRecord) => void): void {
  let previous: string | null = null;
  let sequence = 0;
  for (; fs.existsSync(path.join(top, recordPath(sequence))); sequence += 1) {
    const file = path.join(top, recordPath(sequence));
    const record = JSON.parse(fs.readFileSync(file, 'utf8')) as ArchiveRecord;
    edit(record);
    const text = recordText({ ...record, previous });
    fs.writeFileSync(file, text);
    previous = sha256Of(text);
  }
  fs.writeFileSync(
    path.join(top, HEAD),
    `${JSON.stringify({ version: 1, sequence: sequence - 1, sha256: previous })}\n`,
  );
}

function segmentsOf(record: ArchiveRecord) {
  return record.kind === 'segments' ? record.segments : [];
}

/** Replacements of a file. None of them may be opened. */
const ODD_FILES: Readonly<Record<string, (file: string, bytes: Buffer) => void>> = {
  'a symbolic link': (file, bytes) => {
    fs.writeFileSync(`${path.dirname(file)}/.moved`, bytes);
    fs.symlinkSync(`${path.dirname(file)}/.moved`, file);
  },
  'a FIFO': (file) => void execFileSync('mkfifo', [file]),
  'an absurdly large file': (file) => {
    fs.writeFileSync(file, '');
    fs.truncateSync(file, 2 ** 40);
  },
};

/** Numbers that select the file to harm and the kind of harm. */
interface Choice {
  readonly one: number;
  readonly other: number;
  readonly byte: number;
}

/** Harms an archive. Returns false if nothing would change. */
type Mutation = (top: string, files: readonly string[], choice: Choice) => boolean;

/** Kinds of harm to any file at any place; test/sweeps/archive-tampers.slow.test.ts has those of whole files and records. */
const MUTATIONS: Readonly<Record<string, Mutation>> = {
  'change a byte': (top, files, { one, other, byte }) =>
    rewrite(top, pick(files, one), (bytes) => {
      const changed = Buffer.from(bytes);
      const at = other % changed.length;
      changed[at] = (changed[at] ?? 0) ^ byte;
      return changed;
    }),
  'cut a file': (top, files, { one, other }) =>
    rewrite(top, pick(files, one), (bytes) => bytes.subarray(0, other % bytes.length)),
  'cut off the beginning': (top, files, { one, other }) =>
    rewrite(top, pick(files, one), (bytes) => bytes.subarray(1 + (other % bytes.length))),
  'append bytes': (top, files, { one, byte }) =>
    rewrite(top, pick(files, one), (bytes) => Buffer.concat([bytes, Buffer.from([byte])])),
  'insert a byte': (top, files, { one, other, byte }) =>
    rewrite(top, pick(files, one), (bytes) => {
      const at = other % bytes.length;
      return Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), bytes.subarray(at)]);
    }),
  'remove the last two records and the head': (top, files) => {
    for (const file of records(files).slice(-2)) fs.rmSync(path.join(top, file));
    fs.rmSync(path.join(top, '_manifest/head.json'));
    return true;
  },
};

function rewrite(top: string, file: string, change: (bytes: Buffer) => Buffer): boolean {
  const before = fs.readFileSync(path.join(top, file));
  const after = change(before);
  fs.writeFileSync(path.join(top, file), after);
  return !before.equals(after);
}

function records(files: readonly string[]): string[] {
  return files.filter((file) => /^_manifest\/\d+\.json$/.test(file));
}

function pick(files: readonly string[], number: number): string {
  return files[number % files.length] ?? '';
}

describe('verifying an archive', () => {
  it.each(Object.entries(MUTATIONS))(
    'R33: verify finds any harm: %s',
    async (_what, harm) => {
      const { top } = await buildArchive(START, COMMITS);
      const files = filesIn(top).filter((file) => !file.startsWith('_index/'));
      const before = new Map(files.map((file) => [file, fs.readFileSync(path.join(top, file))]));
      const place = fc.nat();
      await fc.assert(
        fc.asyncProperty(place, place, fc.integer({ min: 1, max: 255 }), async (one, other, byte) => {
          try {
            fc.pre(harm(top, files, { one, other, byte }));
            expect(await harmIn(top)).toBe(true);
          } finally {
            for (const file of filesIn(top))
              if (!before.has(file) && !file.startsWith('_index/')) fs.rmSync(path.join(top, file));
            for (const [file, bytes] of before) fs.writeFileSync(path.join(top, file), bytes);
          }
        }),
        { numRuns: process.env['SOAK'] === '1' ? 300 : 5 },
      );
      expect((await verified(top)).findings).toEqual([]);
    },
    900_000,
  );

  it('verify accepts what a concurrent run commits meanwhile', async () => {
    const { top, store, links } = await buildArchive(START, COMMITS);
    const written = writeSegment(top, { number: 6, day: '2026-01-07', logs: logs(40 * HOUR, 5), supplementary: false });
    expect((await verified(top)).findings).toMatchObject([
      { problem: 'unlisted', message: expect.stringContaining('a killed run left it') as string },
    ]);
    const verification = verifyArchive(store, {}, nothingVerified());
    const findings: Finding[] = [];
    let committed = false;
    for await (const batch of verification) {
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
          position: links.at(-1)!.record.position,
        }),
      );
    }
    expect(findings).toEqual([]);
  });

  it('R66: verify finds a segment that records list twice, even when all hashes match', async () => {
    const { top } = await buildArchive(START, COMMITS);
    const listed: ReturnType<typeof segmentsOf> = [];
    forge(top, (record) => void listed.push(...segmentsOf(record)));
    const [first] = listed;
    forge(top, (record) => {
      if (record.sequence !== 4) return;
      // A copy of the segment under a name that fits this record.
      const copy = first!.path.replace('part-00000001', 'part-00000004');
      fs.copyFileSync(path.join(top, first!.path), path.join(top, copy));
      segmentsOf(record).push({ ...first!, path: copy });
    });
    const found = await verified(top);
    expect(found.findings.map(({ message }) => message)).toEqual([
      'records list it twice: its entries would count twice',
    ]);
    expect(found.entries).toBe(346);
  });

  it.each(
    Object.entries(ODD_FILES).flatMap(([what, make]) =>
      ['segment', 'record', 'head'].map((where) => [what, where, make] as const),
    ),
  )('R66: verify finds %s in the place of a %s, and reads no byte of it', async (what, where, make) => {
    const { top } = await buildArchive(START, COMMITS);
    const segment = filesIn(top).find((file) => file.startsWith('tenant=')) ?? '';
    const name = { segment, record: recordPath(2), head: HEAD }[where] ?? '';
    const file = path.join(top, name);
    const bytes = fs.readFileSync(file);
    fs.rmSync(file);
    make(file, bytes);
    const { findings } = await verified(top);
    expect(findings.map((finding) => finding.path)).toContain(name);
    const words = findings.map(({ message }) => message).join('\n');
    expect(words.replaceAll(',', '')).toContain(what.startsWith('an absurdly') ? '1099511627776 bytes' : what);
  });

  it('R76: verify finds files beside the records that no record names', async () => {
    const { top, links } = await buildArchive(START, COMMITS);
    const hash = 'a'.repeat(12);
    const strays = [
      `_manifest/checkpoint-00000002-${hash}.json`,
      `_manifest/position-${String(links.length).padStart(8, '0')}-${hash}.json`,
    ];
    for (const name of strays) {
      fs.mkdirSync(path.dirname(path.join(top, name)), { recursive: true });
      fs.writeFileSync(path.join(top, name), 'x');
    }
    const { findings } = await verified(top);
    expect(findings.map(({ problem, path: where }) => `${problem} ${where}`).toSorted()).toEqual(
      strays.map((name) => `unlisted ${name}`).toSorted(),
    );
    expect(findings.filter(({ message }) => message.includes('a killed run left it')).map((each) => each.path)).toEqual(
      [strays[1]],
    );
  });

  it('R77: verify finds a file that was added among the indexes, and no index of a segment that is gone', async () => {
    const { top } = await buildArchive(START, COMMITS);
    const segment = filesIn(top).find((file) => file.startsWith('tenant=')) ?? '';
    const added = ['_index/junk', '_index/tenant=t/date=2026-01-05/part-00000009-aaaaaaaaaaaa.jsonl.gz.idx'];
    for (const name of [...added, `_index/${segment}.idx`]) {
      fs.mkdirSync(path.dirname(path.join(top, name)), { recursive: true });
      fs.writeFileSync(path.join(top, name), 'x');
    }
    fs.rmSync(path.join(top, segment));
    for (const manifestOnly of [true, false])
      expect(problems(await verified(top, { manifestOnly })).toSorted()).toEqual([
        ...problems({ findings: [{ problem: 'missing', path: segment, message: '' }] }),
        ...added.map((name) => `unlisted ${name.replace(/-[0-9a-f]{12}\.jsonl/, '.jsonl')}`),
      ]);
  });

  it.each(['bytes', 'entries'] as const)(
    'R76: verify ends with a verdict when the %s of a segment are impossible',
    async (member) => {
      const { top } = await buildArchive(START, COMMITS);
      forge(top, (record) => {
        for (const segment of segmentsOf(record)) segment[member] = Number.MAX_SAFE_INTEGER;
      });
      const { findings, records } = await verified(top);
      expect([records, findings.length > 0]).toEqual([6, true]);
    },
  );
});
