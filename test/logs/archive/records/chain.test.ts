import fs from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { isSvcError } from '../../../../src/base/errors.ts';
import { sha256Of } from '../../../../src/base/files/draft.ts';
import { systemClock } from '../../../../src/base/system.ts';
import {
  appendRecord,
  checkChain,
  type Finding,
  readFirst,
  readLast,
  readRecords,
  type RecordDraft,
} from '../../../../src/logs/archive/records/chain.ts';
import { DirectoryStore } from '../../../../src/client/store/directory-store.ts';
import {
  ARCHIVE,
  type ArchiveRecord,
  type Link,
  parseRecord,
  recordPath,
  recordText,
} from '../../../../src/logs/archive/records/record.ts';
import { toStored } from '../../../../src/logs/position.ts';
import { temporaryDirectory } from '../../../support/directory.ts';

const NOON = '2026-01-05T12:00:00.000Z';
const position = toStored({ settled: 1000, readTo: 2000, newest: undefined, passed: [['k', 1500, 2]] });
const begin: RecordDraft = {
  kind: 'begin',
  service: 'https://vault.example',
  tenant_id: 't-1',
  written_at: NOON,
  position,
};
const gap: RecordDraft = { kind: 'gap', from: NOON, to: NOON, written_at: NOON, position };
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
  position,
};

let top: string;
let store: DirectoryStore;

beforeEach(() => {
  top = temporaryDirectory();
  const signal = new AbortController().signal;
  store = new DirectoryStore(top, { pid: process.pid, isAlive: () => true, clock: systemClock, signal }, ARCHIVE);
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
  it('the chain is empty where there is no archive', async () => {
    expect(await readAll()).toEqual([]);
    expect(await readLast(store)).toBeUndefined();
    expect(await readFirst(store)).toBeUndefined();
  });

  it('the chain reads back what was written, and each record names the hash of the one before', async () => {
    const written = await write(begin, segments, gap);
    expect(await readAll()).toEqual(written);
    expect(await readLast(store)).toEqual(written[2]);
    expect(await readFirst(store)).toEqual(written[0]);
    expect(written[1]?.record.previous).toBe(written[0]?.sha256);
    expect(fs.readFileSync(file(1), 'utf8')).toBe(recordText(written[1]!.record));
  });

  it('a writer continues where a crash left the head behind', async () => {
    const written = await write(begin, segments, gap);
    const { sha256 } = written[0]!;
    fs.writeFileSync(path.join(top, '_manifest/head.json'), JSON.stringify({ version: 1, sequence: 0, sha256 }));
    expect(await readLast(store)).toEqual(written[2]);
    fs.rmSync(path.join(top, '_manifest/head.json'));
    expect(await readLast(store)).toEqual(written[2]);
  });

  it('a writer adds nothing after a record that another writer replaced', async () => {
    const [, last] = await write(begin, segments);
    fs.writeFileSync(file(1), text(1).replace('t-1', 't-2'));
    await store.lock(async () => {
      await expect(appendRecord(store, last, gap)).rejects.toMatchObject({
        code: 'conflict',
        message: `another writer has committed record 1 of ${top}`,
      });
      fs.rmSync(file(1));
      await expect(appendRecord(store, last, gap)).rejects.toMatchObject({ code: 'conflict' });
    });
    expect(fs.existsSync(file(2))).toBe(false);
  });

  it('a writer finds a damaged last record behind an old head, and a head that names no record', async () => {
    const [first] = await write(begin, segments, gap);
    head({ version: 1, sequence: 0, sha256: first!.sha256 });
    fs.writeFileSync(file(1), text(1).replace('t-1', 't-2'));
    await expect(readLast(store)).rejects.toThrow('_manifest/00000002.json is damaged: it does not chain');
    for (const odd of [{}, { version: 1, sequence: -1, sha256: '' }, { version: 1, sequence: 0 }, 1]) {
      head(odd);
      await expect(readLast(store)).rejects.toThrow('_manifest/head.json is damaged: it names no record');
    }
  });
});

function head(value: unknown): void {
  fs.writeFileSync(path.join(top, '_manifest/head.json'), `${JSON.stringify(value)}\n`);
}

/** Returns all findings in the chain: problem, file and message. */
async function findings(): Promise<[problem: string, file: string, message: string][]> {
  const found: Finding[] = [];
  for await (const item of checkChain(store)) if ('problem' in item) found.push(item);
  return found.map((one) => [one.problem, one.path.replace(/^_manifest\/(?:0{7})?/, ''), one.message]);
}

/** Changes records, and makes all hashes match again. */
function forge(edit: (record: ArchiveRecord) => Partial<ArchiveRecord>, start: string | null = null): void {
  let previous = start;
  let sequence = 0;
  for (; fs.existsSync(file(sequence)); sequence += 1) {
    const { record } = parseRecord(text(sequence), recordPath(sequence));
    const forged = recordText(Object.assign(record, edit(record), { previous }));
    fs.writeFileSync(file(sequence), forged);
    previous = sha256Of(forged);
  }
  head({ version: 1, sequence: sequence - 1, sha256: previous });
}

describe('the checks of a chain', () => {
  const UNCHAINED = 'it does not chain: it was changed, or the record before it';
  const RENAMED = 'it was changed, or _manifest/head.json, which names another hash of it';

  it('R33: checking a single record without a head finds nothing, because a run may have died before writing the head', async () => {
    await write(begin);
    fs.rmSync(path.join(top, '_manifest/head.json'));
    expect(await findings()).toEqual([]);
  });

  /** Each with what it harms, what the checks find, and whether an archive is read all the same. */
  it.each<[string, () => void, [string, string, string][], 'read'?]>([
    [
      'a changed record',
      () => fs.writeFileSync(file(1), text(1).replace('t-1', 't-2')),
      [['changed', '2.json', UNCHAINED]],
    ],
    [
      'a changed last record',
      () => fs.writeFileSync(file(2), text(2).replace('12:00', '12:01')),
      [['changed', '2.json', RENAMED]],
    ],
    [
      'a record that is none',
      () => fs.writeFileSync(file(1), '{}'),
      [
        ['damaged', '1.json', 'kind is not valid'],
        ['changed', '2.json', UNCHAINED],
      ],
    ],
    [
      'a cut record',
      () => fs.writeFileSync(file(1), text(1).slice(0, -20)),
      [
        ['damaged', '1.json', 'it is not JSON'],
        ['changed', '2.json', UNCHAINED],
      ],
    ],
    [
      'an empty last record',
      () => fs.writeFileSync(file(2), ''),
      [
        ['damaged', '2.json', 'it is empty'],
        ['changed', '2.json', RENAMED],
      ],
    ],
    [
      'a record without a member',
      () => forge(() => ({ read_to: undefined })),
      [['damaged', '1.json', 'read_to is not valid']],
    ],
    [
      'a record that names a file elsewhere',
      () => forge((record) => JSON.parse(JSON.stringify(record).replace('tenant=t-1/', '../../')) as ArchiveRecord),
      [['damaged', '1.json', 'segments.0.path is not valid']],
    ],
    [
      'records in another order',
      () => {
        const [one, two] = [text(1), text(2)];
        fs.writeFileSync(file(1), two);
        fs.writeFileSync(file(2), one);
      },
      [
        ['unfit', '1.json', 'it says that it is record 2'],
        ['changed', '1.json', UNCHAINED],
        ['unfit', '2.json', 'it says that it is record 1'],
        ['changed', '2.json', UNCHAINED],
        ['changed', '2.json', RENAMED],
      ],
    ],
    ['a missing record', () => fs.rmSync(file(1)), [['missing', '1.json', 'it is missing']]],
    [
      'a missing beginning',
      () => [0, 1].forEach((at) => fs.rmSync(file(at))),
      [['missing', '0.json', 'it is missing, and _manifest/00000001.json']],
    ],
    ['a missing end', () => fs.rmSync(file(2)), [['missing', '2.json', 'it is missing']]],
    [
      'a head far ahead',
      () => head({ version: 1, sequence: 5, sha256: '' }),
      [['missing', '3.json', 'it is missing, and all 2 records up to _manifest/00000005.json']],
    ],
    [
      'a missing head',
      () => fs.rmSync(path.join(top, '_manifest/head.json')),
      [['missing', 'head.json', 'it is missing; the next commit to the archive recreates it']],
      'read',
    ],
    ['a head that names nothing', () => head({}), [['damaged', 'head.json', 'it names no record']]],
    [
      'a head of another form',
      () => fs.appendFileSync(path.join(top, '_manifest/head.json'), ' '),
      [['changed', 'head.json', 'it was changed']],
      'read',
    ],
    [
      'what is no record',
      () =>
        ['notes.txt', '7.json', '.hidden'].forEach((name) => fs.writeFileSync(path.join(top, '_manifest', name), 'x')),
      [
        ['unlisted', '7.json', 'it is not a record'],
        ['unlisted', 'notes.txt', 'it is not a record'],
      ],
      'read',
    ],
    [
      'a second beginning',
      () => forge((record) => (record.sequence === 1 ? { ...record, ...begin } : {})),
      [['unfit', '1.json', 'a begin record cannot be here']],
    ],
    [
      'no beginning',
      () => forge((record) => (record.sequence === 0 ? { ...record, ...gap } : {})),
      [['unfit', '0.json', 'a gap record cannot be here']],
    ],
    [
      'a number that is another',
      () => forge((record) => ({ sequence: record.sequence === 1 ? 7 : record.sequence })),
      [['unfit', '1.json', 'it says that it is record 7']],
    ],
    [
      'a beginning that follows another chain',
      () => forge(() => ({}), 'e'.repeat(64)),
      [['changed', '0.json', UNCHAINED]],
    ],
  ])(
    'R33: checking the chain names the damaged file and what is wrong with it: %s',
    async (_what, harm, expected, isRead) => {
      await write(begin, segments, gap);
      harm();
      expect(await findings()).toEqual(expected);
      const outcome = await readAll().then(
        () => 'read',
        (error: unknown) => (isSvcError(error) ? error.code : error),
      );
      expect(outcome).toBe(isRead ?? 'checksum_mismatch');
    },
  );
});

describe('a record', () => {
  it('a record keeps members that a later version may add', async () => {
    const [link] = await write(begin);
    const more = JSON.stringify({ ...link!.record, added: 1 });
    expect(parseRecord(`${more}\n`, recordPath(0)).record).toHaveProperty('added', 1);
  });
});
