import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { recordPath, recordText, type Segment } from '../../src/logs/archive/records/record.ts';
import { TENANT } from '../logs/archive/build.ts';
import { expected, outcomes, type Tamper, verify } from '../logs/archive/tamper-outcomes.ts';
import { archiveToTamper, DAY, END, entries, GAP, START, Tampering } from '../logs/archive/tampers.ts';
import { svcHere } from '../support/run-here.ts';

const SEGMENT = /^tenant=/;
const iso = (at: number): string => new Date(at).toISOString();
const NO_SEGMENTS: Segment[] = [];
const RECORD = { kind: 'segments' as const, segments: NO_SEGMENTS, written_at: iso(END) };

/** Changes of files by somebody who does not repair the chain. */
const FILES: readonly Tamper[] = [
  ['a byte of a segment', 'found', (it) => it.edit(it.file(SEGMENT), (text) => `${text.slice(0, -1)}~`)],
  ['a segment is cut', 'found', (it) => fs.truncateSync(it.at(it.file(SEGMENT)), 20)],
  ['a segment is empty', 'found', (it) => fs.truncateSync(it.at(it.file(SEGMENT)), 0)],
  ['a segment has grown', 'found', (it) => fs.appendFileSync(it.at(it.file(SEGMENT)), 'x')],
  ['a segment is gone', 'found', (it) => it.remove(it.file(SEGMENT))],
  ['a day is gone', 'found', (it) => it.remove(path.dirname(it.file(SEGMENT)))],
  ['the tenant is gone', 'found', (it) => it.remove(`tenant=${TENANT}`)],
  ['two segments are swapped', 'found', (it) => it.swap(it.file(SEGMENT), it.files(SEGMENT)[3] ?? '')],
  ['a segment is a link to itself', 'found', (it) => it.link(it.file(SEGMENT))],
  ['the folder of a day is a link', 'found', (it) => it.link(path.dirname(it.file(SEGMENT)))],
  ['the folder of the tenant is a link', 'found', (it) => it.link(`tenant=${TENANT}`)],
  [
    'a segment has a hidden name',
    'found',
    (it) => fs.renameSync(it.at(it.file(SEGMENT)), it.at(path.join(path.dirname(it.file(SEGMENT)), '.part'))),
  ],
  ['a segment lies there twice', 'found', (it) => fs.cpSync(it.at(it.file(SEGMENT)), it.at(`${it.file(SEGMENT)}.gz`))],
  [
    'a segment is of another day',
    'found',
    (it) => {
      const name = it.file(SEGMENT);
      it.write(name.replace(/date=[^/]+/, 'date=2025-11-30'), fs.readFileSync(it.at(name)));
      it.remove(name);
    },
  ],
  [
    'a record counts other entries',
    'found',
    (it) => it.edit(recordPath(1), (text) => text.replace('"entries":1', '"entries":2')),
  ],
  ['the first record is gone', 'found', (it) => it.remove(recordPath(0))],
  ['a record is gone', 'found', (it) => it.remove(recordPath(2))],
  ['the newest record is gone', 'found', (it) => it.remove(recordPath(7))],
  ['two records are swapped', 'found', (it) => it.swap(recordPath(1), recordPath(2))],
  ['a record is there twice', 'found', (it) => fs.cpSync(it.at(recordPath(7)), it.at(recordPath(8)))],
  ['a record is a link', 'found', (it) => it.link(recordPath(3))],
  ['a record is empty', 'found', (it) => it.write(recordPath(3), '')],
  ['the newest record is rewritten', 'found', (it) => it.edit(recordPath(7), (text) => text.replace('2026', '2027'))],
  ['a space follows the newest record', 'found', (it) => fs.appendFileSync(it.at(recordPath(7)), ' ')],
  ['the manifest is gone', 'found', (it) => it.remove('_manifest')],
  ['the head is gone', 'found', (it) => it.remove('_manifest/head.json')],
  [
    'the head has another hash',
    'found',
    (it) => it.edit('_manifest/head.json', (text) => text.replace(/[0-9a-f]{8}"/, '00000000"')),
  ],
  [
    'the head has more to say',
    'found',
    (it) => it.edit('_manifest/head.json', (text) => text.replace('}', ',"entries":1}')),
  ],
  [
    'the head names a record to come',
    'found',
    (it) => it.edit('_manifest/head.json', (text) => text.replace('"sequence":7', '"sequence":9')),
  ],
  [
    'a file beside the records has changed',
    'found',
    (it) => it.edit(it.file(/position-/), (text) => text.replace('key 3', 'key 4')),
  ],
  ['a file beside the records is gone', 'found', (it) => it.remove(it.file(/position-/))],
  [
    'the index has changed',
    'harmless',
    (it) => it.edit(it.file(/^_index/), (text) => `${text.slice(0, 40)}~${text.slice(41)}`),
  ],
  ['the index is gone', 'harmless', (it) => it.remove('_index')],
  ['a foreign file', 'found', (it) => it.write('notes.txt', 'x')],
  ['a foreign folder', 'found', (it) => it.write('copies/deep/x', 'x')],
  ['a pipe', 'found', (it) => void execFileSync('mkfifo', [it.at(`tenant=${TENANT}/pipe`)])],
  ['a foreign file among the records', 'found', (it) => it.write('_manifest/notes.json', '{}')],
  ['a foreign file among the segments', 'found', (it) => it.write(`${path.dirname(it.file(SEGMENT))}/x.jsonl.gz`, 'x')],
  ['a foreign file among the indexes', 'found', (it) => it.write('_index/x', 'x')],
  ['a hidden file', 'harmless', (it) => it.write('.notes', 'x')],
  ['a hidden file among the segments', 'harmless', (it) => it.write(`${path.dirname(it.file(SEGMENT))}/.x`, 'x')],
];

/** Changes of records by somebody who repairs the chain and its head. */
const FORGERIES: readonly Tamper[] = [
  ['another service', 'another hash', (it) => it.forge('begin', () => ({ service: 'https://other.example' }))],
  ['another tenant', 'another hash', (it) => it.forge('begin', () => ({ tenant_id: 'other' }))],
  ['an earlier beginning', 'another hash', (it) => it.forge('begin', () => ({ since: iso(START - DAY) }))],
  ['no beginning', 'found', (it) => it.chain(it.records().slice(1))],
  ['a segment counts more entries', 'found', (it) => it.forgeSegment(({ entries: count }) => ({ entries: count + 1 }))],
  ['a segment has other bytes', 'found', (it) => it.forgeSegment(({ bytes }) => ({ bytes: bytes + 1 }))],
  [
    'a segment has another hash',
    'found',
    (it) => it.forgeSegment(({ sha256 }) => ({ sha256: sha256.replace(/./g, '0') })),
  ],
  [
    'a segment is of no tenant',
    'found',
    (it) => it.forgeSegment(({ path: name }) => ({ path: name.replace(/=[^/]+/, '=x') })),
  ],
  [
    'a segment is forgotten, with its file and its index',
    'another hash',
    (it) => {
      const name = it.file(SEGMENT);
      it.forgeSegments((segments) => segments.filter((segment) => segment.path !== name));
      it.remove(name);
      it.remove(`_index/${name}.idx`);
    },
  ],
  [
    'a segment is listed twice',
    'found',
    (it) => it.forge('segments', ({ segments }) => ({ segments: [...segments, ...segments.slice(-1)] })),
  ],
  ['the gap is forgotten', 'found', (it) => it.chain(it.records().filter(({ kind }) => kind !== 'gap'))],
  [
    'the gap was read',
    'another hash',
    (it) => it.forge('gap', ({ from, to }) => ({ ...RECORD, read_from: from, read_to: to })),
  ],
  ['the gap is shorter', 'another hash', (it) => it.forge('gap', () => ({ to: iso(GAP.from + DAY) }))],
  [
    'what was read before is covered',
    'found',
    (it) => it.forgeAll((_, at) => (at === 4 ? { read_from: iso(GAP.from) } : {})),
  ],
  ['the drop is forgotten', 'found', (it) => it.chain(it.records().filter(({ kind }) => kind !== 'dropped'))],
  ['the drop is of somebody else', 'another hash', (it) => it.forge('dropped', () => ({ by: 'nobody@nowhere' }))],
  ['the drop is of another day', 'another hash', (it) => it.forge('dropped', () => ({ written_at: iso(START) }))],
  ['the drop names no month', 'found', (it) => it.forge('dropped', () => ({ months: [] }))],
  [
    'the drop counts fewer entries',
    'found',
    (it) => it.forge('dropped', ({ months }) => ({ months: months.map((month) => ({ ...month, entries: 1 })) })),
  ],
  [
    'the drop counts fewer files',
    'found',
    (it) => it.forge('dropped', ({ months }) => ({ months: months.map((month) => ({ ...month, segments: 1 })) })),
  ],
  [
    'the drop counts other bytes',
    'found',
    (it) => it.forge('dropped', ({ months }) => ({ months: months.map((month) => ({ ...month, bytes: 1 })) })),
  ],
  [
    'the drop is of another month',
    'found',
    (it) => it.forge('dropped', ({ months }) => ({ months: months.map((month) => ({ ...month, month: '2025-09' })) })),
  ],
  [
    'the drop is of two months',
    'found',
    (it) => it.forge('dropped', ({ months }) => ({ months: [...months, ...months] })),
  ],
  ['the drop takes less', 'found', (it) => it.forge('dropped', () => ({ before: '2025-10-01T00:00:00.000Z' }))],
  ['the drop takes more', 'found', (it) => it.forge('dropped', () => ({ before: '2025-12-01T00:00:00.000Z' }))],
  ['the drop takes half a month', 'found', (it) => it.forge('dropped', () => ({ before: '2025-11-15T00:00:00.000Z' }))],
  [
    'the drop begins within a day',
    'found',
    (it) => it.forge('dropped', () => ({ before: '2025-11-01T12:00:00.000Z' })),
  ],
  [
    'the drop moves the end',
    'found',
    (it) => it.forge('dropped', ({ position }) => ({ position: { ...position, read_to: iso(END + 90 * DAY) } })),
  ],
  ['the newest record never was', 'found', (it) => it.chain(it.records().slice(0, -1))],
  [
    'a member is there twice',
    'found',
    (it) => it.chain(it.records(), (record) => recordText(record).replace('{"version"', '{"kind":"gap","version"')),
  ],
  ['a record has a second line', 'found', (it) => it.chain(it.records(), (record) => `${recordText(record)}\n`)],
  [
    'a number is written otherwise',
    'found',
    (it) => it.chain(it.records(), (record) => recordText(record).replace('"entries":1,', '"entries":1.0,')),
  ],
];

const APPENDED = '2026-01-01T00:00:00.000Z';

/** Records added after the newest one, so that the hash from before is still in the chain. */
const ADDITIONS: readonly Tamper[] = [
  ['a drop that the archive counts', 'another hash', (it) => it.drop(APPENDED)],
  ['a drop that names no month', 'found', (it) => it.drop(APPENDED, { months: [] })],
  [
    'a drop that counts one entry',
    'found',
    (it) => it.drop(APPENDED, { months: [{ month: '2025-11', segments: 1, entries: 1, bytes: 1 }] }),
  ],
  ['a drop of everything', 'found', (it) => it.drop('9999-12-01T00:00:00.000Z')],
  ['a drop of the newest month', 'found', (it) => it.drop('2026-02-01T00:00:00.000Z')],
  ['a drop of half a month', 'found', (it) => it.drop('2025-12-15T00:00:00.000Z')],
  [
    'a drop that moves the end',
    'found',
    (it) =>
      it.drop('2026-02-01T00:00:00.000Z', {
        position: { ...it.records().at(-1)?.position, read_to: '2026-03-01T00:00:00.000Z' },
      }),
  ],
  [
    'a drop behind a record that moves the end',
    'another hash',
    (it) => {
      const to = '2027-01-01T00:00:00.000Z';
      const position = { ...it.records().at(-1)?.position, read_to: to };
      it.append({ ...RECORD, read_from: iso(END + DAY), read_to: to, position });
      it.drop('2026-12-01T00:00:00.000Z');
    },
  ],
  [
    'a drop of nothing that hides the gap',
    'found',
    (it) => it.append({ kind: 'dropped', before: APPENDED, months: [], by: 'x', written_at: iso(END) }),
  ],
  [
    'a record that covers the gap',
    'found',
    (it) => it.append({ ...RECORD, read_from: iso(GAP.from), read_to: iso(END + 2 * DAY) }),
  ],
  ['a second beginning', 'found', (it) => it.append({ ...it.records()[0] })],
  [
    'a segment again',
    'found',
    (it) =>
      it.append({
        ...RECORD,
        segments: it.kept('2025-12-01').slice(0, 1),
        read_from: iso(END + DAY),
        read_to: iso(END + DAY),
      }),
  ],
  [
    'a segment of another tenant',
    'found',
    (it) => {
      const segment = it.segment(entries(END + DAY, 3, 1000, { tenant_id: 'stranger' }));
      it.append({ ...RECORD, segments: [segment], read_from: iso(END + DAY), read_to: iso(END + 2 * DAY) });
    },
  ],
];

describe('svc logs verify', () => {
  it.each([
    ['changed file', FILES],
    ['forged record', FORGERIES],
    ['record added to the chain', ADDITIONS],
  ] as const)('R66 and R77: svc logs verify finds each %s, or it is harmless', async (_, tampers) => {
    expect(await outcomes(await archiveToTamper(), tampers)).toEqual(expected(tampers));
  });

  it('R77: svc logs verify allows the drops of a retention after the expected record, and no newer ones', async () => {
    const { top, hash } = await archiveToTamper();
    new Tampering(top).drop('2025-12-01T00:00:00.000Z');
    const lost = await verify(top, '--expect', hash);
    expect(lost.code).toBe(12);
    expect(JSON.parse(lost.stdout.split('\n')[0] ?? '')).toMatchObject({
      problem: 'dropped',
      path: recordPath(8),
      message: 'root@vault dropped 13 entries from before 2025-12-01T00:00:00.000Z after the expected record',
    });
    expect((await verify(top, '--expect', hash, '--keep', '1M')).code).toBe(0);
    expect((await verify(top, '--expect', hash, '--keep', '2M')).code).toBe(12);
    // Without a hash, all drops count: the first one took a month that three months would have kept.
    expect([(await verify(top, '--keep', '1M')).code, (await verify(top, '--keep', '3M')).code]).toEqual([0, 12]);
    const people = await svcHere(['logs', 'verify', top, '--expect', hash, '-o', 'table']);
    expect(people.stderr).toContain('months of the archive');
    expect(people.stderr).toContain('--keep 13M');
    const shown = await svcHere(['logs', 'verify', top, '-o', 'table']);
    expect(shown.stdout).toContain('truncated or added; retention dropped 17 entries\n');
  });
});
