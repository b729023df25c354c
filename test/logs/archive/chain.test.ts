import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appendRecord, type RecordDraft, readFirst, readLast, readRecords } from '../../../src/logs/archive/chain.ts';
import { DirectoryStore } from '../../../src/logs/archive/directory-store.ts';
import { fromStored, toStored } from '../../../src/logs/checkpoint.ts';
import { type Link, parseRecord, recordPath, recordText, sequenceOf } from '../../../src/logs/archive/record.ts';
import { systemClock } from '../../../src/system.ts';

const NOON = '2026-01-05T12:00:00.000Z';
const standing = toStored({
  settled: 1000,
  readTo: 2000,
  newest: undefined,
  passed: [['k', 1500, 2]],
});
const begin: RecordDraft = {
  kind: 'begin',
  service: 'https://vault.example',
  tenant_id: 't-1',
  written_at: NOON,
  standing,
};
const gap: RecordDraft = { kind: 'gap', from: NOON, to: NOON, written_at: NOON, standing };
const segments: RecordDraft = {
  kind: 'segments',
  segments: [
    {
      path: 'tenant=t-1/date=2026-01-05/part-00000001-0123456789ab.jsonl.gz',
      entries: 1,
      bytes: 10,
      sha256: 'a'.repeat(64),
      first: NOON,
      last: NOON,
      supplementary: false,
    },
  ],
  read_from: NOON,
  read_to: NOON,
  written_at: NOON,
  standing,
};

let top: string;
let store: DirectoryStore;

beforeEach(() => {
  top = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-chain-'));
  const signal = new AbortController().signal;
  store = new DirectoryStore(top, { pid: process.pid, isAlive: () => true, clock: systemClock, signal });
});

afterEach(() => {
  fs.rmSync(top, { recursive: true, force: true });
});

async function write(...drafts: RecordDraft[]): Promise<Link[]> {
  return store.lock(async () => {
    const links: Link[] = [];
    for (const draft of drafts) links.push(await appendRecord(store, links.at(-1), draft));
    return links;
  });
}

async function readAll(): Promise<Link[]> {
  const links: Link[] = [];
  for await (const link of readRecords(store)) links.push(link);
  return links;
}

function file(sequence: number): string {
  return path.join(top, recordPath(sequence));
}

function text(sequence: number): string {
  return fs.readFileSync(file(sequence), 'utf8');
}

describe('a chain of records', () => {
  it('is empty where there is no archive', async () => {
    expect(await readAll()).toEqual([]);
    expect(await readLast(store)).toBeUndefined();
    expect(await readFirst(store)).toBeUndefined();
  });

  it('reads back what was written, and each record names the bytes of the one before', async () => {
    const written = await write(begin, segments, gap);
    expect(await readAll()).toEqual(written);
    expect(await readLast(store)).toEqual(written[2]);
    expect(await readFirst(store)).toEqual(written[0]);
    expect(written[1]?.record.previous).toBe(written[0]?.sha256);
    expect(fs.readFileSync(file(1), 'utf8')).toBe(recordText(written[1]!.record));
  });

  it('continues where a crash left the head behind', async () => {
    const written = await write(begin, segments, gap);
    const { sha256 } = written[0]!;
    fs.writeFileSync(path.join(top, '_manifest/head.json'), JSON.stringify({ version: 1, sequence: 0, sha256 }));
    expect(await readLast(store)).toEqual(written[2]);
    fs.rmSync(path.join(top, '_manifest/head.json'));
    expect(await readLast(store)).toEqual(written[2]);
  });

  it('lets one of two writers win, and the other do no harm', async () => {
    const [first] = await write(begin);
    await store.lock(async () => {
      await appendRecord(store, first, gap);
      const before = fs.readFileSync(file(1), 'utf8');
      await expect(appendRecord(store, first, segments)).rejects.toMatchObject({ code: 'conflict' });
      expect(fs.readFileSync(file(1), 'utf8')).toBe(before);
    });
  });

  const damage: Record<string, (change: (sequence: number, to: string) => void) => void> = {
    'a changed record': (change) => change(1, text(1).replace('t-1', 't-2')),
    'a cut record': (change) => change(1, text(1).slice(0, -20)),
    'an empty record': (change) => change(1, ''),
    'a record without a member': (change) => change(1, text(1).replace('"read_to"', '"read_too"')),
    'a record that names a file elsewhere': (change) => change(1, text(1).replace('tenant=t-1/', '../../')),
    'records in another order': (change) => {
      const [one, two] = [text(1), text(2)];
      change(1, two);
      change(2, one);
    },
    'a missing record': () => fs.rmSync(file(1)),
    'a missing last record': () => fs.rmSync(file(2)),
    'a changed last record': (change) => change(2, text(2).replace('12:00', '12:01')),
    'a damaged head': () => fs.writeFileSync(path.join(top, '_manifest/head.json'), '{'),
  };
  it.each(Object.entries(damage))('finds %s', async (_what, harm) => {
    await write(begin, segments, gap);
    harm((sequence, to) => fs.writeFileSync(file(sequence), to));
    await expect(readAll()).rejects.toMatchObject({ code: 'checksum_mismatch' });
  });

  it('finds a damaged end at once', async () => {
    await write(begin, segments, gap);
    fs.writeFileSync(file(2), text(2).replace('12:00', '12:01'));
    await expect(readLast(store)).rejects.toMatchObject({ code: 'checksum_mismatch' });
    fs.rmSync(file(2));
    await expect(readLast(store)).rejects.toThrow('_manifest/00000002.json is damaged: it is missing');
  });

  it('is not touched where a newer svc wrote it', async () => {
    await write(begin);
    fs.writeFileSync(file(0), text(0).replace('"version":1', '"version":2'));
    await expect(readFirst(store)).rejects.toMatchObject({
      code: 'config',
      hint: 'Update svc on this machine.',
    });
  });
});

describe('a record', () => {
  it('keeps what a later svc may add', async () => {
    const [link] = await write(begin);
    const more = JSON.stringify({ ...link!.record, added: 1 });
    expect(parseRecord(`${more}\n`, recordPath(0)).record).toHaveProperty('added', 1);
  });

  it('has a path that contains its number', () => {
    expect(recordPath(7)).toBe('_manifest/00000007.json');
    expect(recordPath(123_456_789)).toBe('_manifest/123456789.json');
    for (const sequence of [0, 7, 123_456_789]) expect(sequenceOf(recordPath(sequence))).toBe(sequence);
    for (const other of ['_manifest/head.json', '_manifest/7.json', '_manifest/000000007.json'])
      expect(sequenceOf(other)).toBeUndefined();
  });

  it('keeps the position of a tail', () => {
    const stood = { settled: 1000, readTo: 2000, newest: 1500, passed: [['k', 1500, 2]] } as const;
    expect(fromStored(toStored(stood))).toEqual(stood);
    expect(fromStored(standing).newest).toBeUndefined();
  });
});
