import { createHash } from 'node:crypto';
import { array, assert, constant, integer, nat, oneof, property, string, uuid } from 'fast-check';
import { expect, test } from 'vitest';
import { sha256Of } from '../../../src/base/files/draft.ts';
import { AROUND_COLUMNS, IndexBuilder, keyAt, keyOf, SegmentIndex } from '../../../src/logs/archive/segment-index.ts';
import { anyCharacter } from '../../support/any-character.ts';

const SHA256 = 'a'.repeat(64);

/** Builds the index of a segment whose columns have entries about these entities, by one actor, each column of ten bytes. */
function indexOf(columns: readonly (readonly string[])[]) {
  const builder = new IndexBuilder();
  for (const ids of columns) {
    for (const each of ids) builder.add(keyOf(each), keyOf('actor'));
    builder.endColumn(new Uint8Array(10));
  }
  const entries = columns.reduce((sum, ids) => sum + ids.length, 0);
  const bytes = columns.length * 10 + AROUND_COLUMNS.before + AROUND_COLUMNS.after;
  return { index: builder.finish(SHA256), segment: { sha256: SHA256, bytes, entries } };
}

function wanted({ index, segment }: ReturnType<typeof indexOf>, ...query: readonly (readonly string[])[]) {
  return SegmentIndex.of(index, segment)?.find(query.map((ids) => ids.map(keyOf))).wanted;
}

test('R69: an index rules out no column with a requested id, whatever the text of the id', () => {
  const ids = array(oneof(string({ unit: anyCharacter }), uuid(), constant('')), { minLength: 1, maxLength: 100 });
  assert(
    property(array(ids, { minLength: 1, maxLength: 4 }), (columns) => {
      const built = indexOf(columns);
      for (const [at, column] of columns.entries())
        expect(column.filter((id) => wanted(built, [id])?.includes(at) !== true)).toEqual([]);
    }),
  );
});

test('an index finds only the columns with an id of each list, in any case', () => {
  const built = indexOf([['one', 'two'], ['one'], ['four']]);
  expect(wanted(built, ['ONE'])).toEqual([0, 1]);
  expect(wanted(built, ['one'], ['two'])).toEqual([0]);
  expect(wanted(built, ['two', 'four'])).toEqual([0, 2]);
  expect(wanted(built, ['four'], ['ACTOR'])).toEqual([2]);
  expect(wanted(built, ['four'], ['other'])).toEqual([]);
});

test('an index of 10,000 ids rules out nearly all others, and has each id once', () => {
  const ids = Array.from({ length: 10_000 }, (_, at) => `entity-${at}`);
  const { index, segment } = indexOf([[...ids, ...ids.toReversed()]]);
  const opened = SegmentIndex.of(index, segment);
  expect(ids.filter((id) => opened?.mayContain(0, keyOf(id)) !== true)).toEqual([]);
  const others = Array.from({ length: 2_000 }, (_, at) => `other-${at}`);
  expect(others.filter((id) => opened?.mayContain(0, keyOf(id)) !== false).length).toBeLessThan(20);
  expect(index.length).toBeLessThan(10_001 * 3 + 300);
});

test('R69: an index with a changed byte, a cut or an appended one counts as absent', () => {
  const { index, segment } = indexOf([['1', '2', '3'], ['4']]);
  expect(SegmentIndex.of(index, segment)).toBeDefined();
  assert(
    property(nat({ max: index.length - 1 }), integer({ min: 1, max: 255 }), (at, by) => {
      const changed = Buffer.from(index);
      changed[at] = (changed[at] ?? 0) ^ by;
      for (const bytes of [changed, index.subarray(0, at), Buffer.concat([index, Buffer.from([by])])])
        expect(SegmentIndex.of(bytes, segment)).toBeUndefined();
    }),
  );
});

test('R69: an index of another segment counts as absent', () => {
  const { index, segment } = indexOf([['1', '2', '3'], ['4']]);
  for (const other of [{ sha256: 'b'.repeat(64) }, { bytes: segment.bytes + 1 }, { entries: 5 }])
    expect(SegmentIndex.of(index, { ...segment, ...other })).toBeUndefined();
});

test.each([
  ['an impossible number of keys', [10, 3, Number.MAX_SAFE_INTEGER, 'x']],
  ['a column of an impossible length', [Number.MAX_SAFE_INTEGER, 3, 4, 'x']],
  ['a negative count', [10, -3, 4, 'x']],
  ['a key too few', [10, 3, 3, 'x']],
  ['another version', [10, 3, 4, 'x'], 2],
])('R69: an index with its right hash and %s counts as absent', (_, column, version = 3) => {
  const { index, segment } = indexOf([['1', '2', '3']]);
  const keys = index.subarray(index.indexOf('\n') + 1, -32);
  expect(keys).toHaveLength(12);
  const forged = (head: object): Buffer => {
    const content = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), keys]);
    return Buffer.concat([content, createHash('sha256').update(content).digest()]);
  };
  const right = { version: 3, segment: SHA256, columns: [[10, 3, 4, 'x']] };
  expect(SegmentIndex.of(forged(right), segment)).toBeDefined();
  expect(SegmentIndex.of(forged({ ...right, version, columns: [column] }), segment)).toBeUndefined();
});

test('R69: an id has the same key by its bytes as by its text', () => {
  const text = string({ unit: anyCharacter });
  assert(
    property(text, text, (before, id) => {
      const bytes = Buffer.from(`${before}${id}"`);
      const start = Buffer.byteLength(before);
      expect(keyAt(bytes, { start, end: bytes.length - 1 })).toBe(keyOf(Buffer.from(id).toString()));
    }),
  );
  const edges = '@AZ[`az{';
  expect(keyAt(Buffer.from(edges), { start: 0, end: edges.length })).toBe(keyOf(edges));
  expect(keyAt(Buffer.from('null'), { start: -1, end: 4 })).toBeUndefined();
});

test('R69: an index has the bytes that existing ones have', () => {
  const ids = Array.from({ length: 100 }, (_, at) => `00000000-0000-4000-8000-${at.toString(16).padStart(12, '0')}`);
  // With another hash of ids, those of existing archives are no longer found.
  expect(sha256Of(indexOf([ids]).index)).toBe('4acd57109be1e04b1b3a107b5555ef2a06b6af389c2db4a461a55733b72caf4d');
});
