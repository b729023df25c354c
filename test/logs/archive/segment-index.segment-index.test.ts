import { createHash } from 'node:crypto';
import { array, assert, integer, nat, oneof, property } from 'fast-check';
import { expect, test } from 'vitest';
import { AROUND_COLUMNS, IndexBuilder, keyOf, SegmentIndex } from '../../../src/logs/archive/segment-index.ts';

const SHA256 = 'a'.repeat(64);
const id = nat({ max: 400 });
const column = oneof(array(id, { minLength: 1, maxLength: 30 }), array(id, { minLength: 100, maxLength: 300 }));

/** Builds the index of a segment whose columns have entries with these ids, each column of ten bytes. */
function indexOf(columns: readonly (readonly number[])[]) {
  const builder = new IndexBuilder();
  for (const ids of columns) {
    for (const each of ids) builder.add(`entity-${each}`, each % 2 === 0 ? null : 'actor');
    builder.endColumn(new Uint8Array(10));
  }
  const entries = columns.reduce((sum, ids) => sum + ids.length, 0);
  const bytes = columns.length * 10 + AROUND_COLUMNS.before + AROUND_COLUMNS.after;
  return { index: builder.finish(SHA256), segment: { sha256: SHA256, bytes, entries } };
}

function wanted(index: SegmentIndex | undefined, ...query: readonly (readonly string[])[]) {
  return index?.find(query.map((ids) => ids.map(keyOf))).wanted;
}

test('R69: an index rules out no column with a requested id', () => {
  assert(
    property(array(column, { minLength: 1, maxLength: 5 }), id, (columns, one) => {
      const { index, segment } = indexOf(columns);
      const due = columns.flatMap((ids, at) => (ids.includes(one) ? [at] : []));
      expect(wanted(SegmentIndex.of(index, segment), [`ENTITY-${one}`])).toEqual(expect.arrayContaining(due));
    }),
  );
});

test('an index finds only the columns with an id of each list', () => {
  const { index, segment } = indexOf([[1, 2], [1], [4]]);
  const found = SegmentIndex.of(index, segment);
  expect(wanted(found, ['entity-1'])).toEqual([0, 1]);
  expect(wanted(found, ['entity-1'], ['entity-2'])).toEqual([0]);
  expect(wanted(found, ['entity-2', 'entity-4'])).toEqual([0, 2]);
  expect(wanted(found, ['entity-4'], ['actor'])).toEqual([]);
});

test('R69: an index with a changed byte, a cut or an appended one counts as absent', () => {
  const { index, segment } = indexOf([[1, 2, 3], [4]]);
  expect(SegmentIndex.of(index, segment)).toBeDefined();
  assert(
    property(nat({ max: index.length - 1 }), integer({ min: 1, max: 255 }), (at, by) => {
      const changed = Buffer.from(index);
      changed[at] = (changed[at] ?? 0) ^ by;
      expect(SegmentIndex.of(changed, segment)).toBeUndefined();
      expect(SegmentIndex.of(index.subarray(0, at), segment)).toBeUndefined();
      expect(SegmentIndex.of(Buffer.concat([index, Buffer.from([by])]), segment)).toBeUndefined();
    }),
  );
});

test('R69: an index of another segment counts as absent', () => {
  const { index, segment } = indexOf([[1, 2, 3], [4]]);
  for (const other of [{ sha256: 'b'.repeat(64) }, { bytes: segment.bytes + 1 }, { entries: 5 }])
    expect(SegmentIndex.of(index, { ...segment, ...other })).toBeUndefined();
});

test.each([
  ['a filter of an impossible size', [10, 3, Number.MAX_SAFE_INTEGER, 'x']],
  ['a column of an impossible length', [Number.MAX_SAFE_INTEGER, 3, 0, 'x']],
  ['a negative count', [10, -3, 0, 'x']],
  ['another version', [10, 3, 0, 'x'], 3],
])('R69: an index with its right hash and %s counts as absent', (_, head, version = 2) => {
  const { index, segment } = indexOf([[1, 2, 3]]);
  const filter = index.subarray(index.indexOf('\n'), -32);
  const text = JSON.stringify({ version, segment: SHA256, columns: [head] });
  const content = Buffer.concat([Buffer.from(text), filter]);
  const forged = Buffer.concat([content, createHash('sha256').update(content).digest()]);
  expect(SegmentIndex.of(forged, segment)).toBeUndefined();
});
