import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { array, assert, asyncProperty, boolean, integer, nat, oneof, record } from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { IndexFile } from '../../../../src/logs/archive/index/file.ts';
import { lookUp } from '../../../../src/logs/archive/index/lookup.ts';
import { type IndexRef, withIndex } from '../../../../src/logs/archive/records/index-ref.ts';
import { type BuiltColumn, ColumnContent, partOf, writeIndex } from '../../../../src/logs/archive/index/write.ts';
import { MemoryStore } from '../memory-store.ts';

/** Returns the ids in each column of a segment. */
type Ids = readonly (readonly number[])[];

const id = nat({ max: 400 });
const column = oneof(array(id, { maxLength: 30 }), array(id, { minLength: 100, maxLength: 300 }));
const segments = array(array(column, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 12 });

test('R69: the lookup misses no column with a requested id, in single and in merged index files', async () => {
  await assert(
    asyncProperty(segments, nat({ max: 5 }), async (ids, last) => {
      const { store, refs } = await indexed(ids);
      const merged = await mergedOf(store, refs.slice(0, last + 2));
      const all = withIndex(refs, [merged]);
      for (const files of [refs, all]) await expectAll(store, files, ids);
    }),
    { numRuns: 40 },
  );
});

test('R69: the lookup misses no column, whatever byte of the index is changed or cut off', async () => {
  const ids: Ids[] = [[[1, 2, 3], [4]], [[5, 6], Array.from({ length: 200 }, (_, at) => at)], [[7]]];
  const { store, refs } = await indexed(ids);
  const merged = await mergedOf(store, refs);
  const whole = store.files.get(merged.path) ?? Buffer.alloc(0);
  const change = record({ at: nat({ max: whole.length - 1 }), by: integer({ min: 1, max: 255 }), cut: boolean() });
  await assert(
    asyncProperty(change, async ({ at, by, cut }) => {
      const bytes = Buffer.from(cut ? whole.subarray(0, at) : whole);
      if (!cut) bytes[at] = (bytes[at] ?? 0) ^ by;
      store.files.set(merged.path, bytes);
      await expectAll(store, [merged], ids);
    }),
    { numRuns: 300 },
  );
  store.files.delete(merged.path);
  expect(await lookUp(store, [merged], [['entity-1']])).toEqual({ bySegment: new Map(), damaged: 1 });
});

test('the lookup returns only columns with an id of each list', async () => {
  const { store, refs } = await indexed([[[1, 2], [1], [3]]]);
  const found = async (...query: string[][]) => (await lookUp(store, refs, query)).bySegment.get(hashOf(0))?.wanted;
  expect(await found(['entity-1'])).toEqual([0, 1]);
  expect(await found(['entity-1'], ['entity-2'])).toEqual([0]);
  expect(await found(['entity-2', 'entity-3'])).toEqual([0, 2]);
  expect(await found(['entity-3'], ['entity-2'])).toEqual([]);
});

/** Expects that the lookup finds each id in all columns that contain it, if their segment is indexed. */
async function expectAll(store: MemoryStore, refs: readonly IndexRef[], ids: readonly Ids[]): Promise<void> {
  for (const number of [...new Set(ids.flat(2))].slice(0, 8)) {
    const { bySegment } = await lookUp(store, refs, [[`ENTITY-${number}`]]);
    for (const [at, columns] of ids.entries()) {
      const holding = columns.flatMap((each, index) => (each.includes(number) ? index : []));
      const wanted = bySegment.get(hashOf(at))?.wanted ?? holding;
      expect(wanted).toEqual(expect.arrayContaining(holding));
    }
  }
}

async function indexed(ids: readonly Ids[]) {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-index-'));
  onTestFinished(() => fs.rmSync(directory, { recursive: true, force: true }));
  const store = new MemoryStore(directory);
  const refs: IndexRef[] = [];
  for (const [at, columns] of ids.entries()) {
    const part = partOf(hashOf(at), columns.map(columnOf));
    refs.push(await writeIndex(store, { from: at, to: at, day: '2026-01-31' }, [part]));
  }
  return { store, refs };
}

async function mergedOf(store: MemoryStore, refs: readonly IndexRef[]): Promise<IndexRef> {
  const parts = await Promise.all(refs.map((ref) => IndexFile.open(store, ref)));
  return writeIndex(store, { from: 0, to: refs.length - 1, day: '2026-01-31' }, parts);
}

function columnOf(ids: readonly number[]): BuiltColumn {
  const content = new ColumnContent();
  for (const number of ids) content.add(undefined, `entity-${number}`);
  return content.built(Buffer.from('bytes'));
}

function hashOf(segment: number): string {
  return String(segment).padStart(64, '0');
}
