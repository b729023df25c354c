import { constants, crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { sha256Of } from '../../../src/base/files/draft.ts';
import { keyOf, SegmentIndex } from '../../../src/logs/archive/segment-index.ts';
import { makeIndex } from '../../../src/logs/search/look-up.ts';
import { MemoryStore } from '../archive/memory-store.ts';

const PATH = 'tenant=t/date=2026-01-05/part-00000001-000000000000.jsonl.gz';
const LINES = ['one', 'two', 'three', 'four'].map((id) => `${JSON.stringify({ entity_id: id, message: 'did' })}\n`);

/** Makes the index of a segment with these bytes, and returns the columns in which it finds each id. */
async function indexOf(bytes: Buffer) {
  const store = new MemoryStore('');
  store.files.set(PATH, bytes);
  const segment = { path: PATH, entries: 4, bytes: bytes.length, sha256: sha256Of(bytes) };
  const made = await makeIndex(store, { ...segment, first: null, last: null, supplementary: false }, {});
  const index = made && SegmentIndex.of(made, segment);
  return index && ['one', 'two', 'three', 'four'].map((id) => index.find([[keyOf(id)]]).wanted);
}

/** Returns a gzip file of compressed pieces. */
function zipped(pieces: readonly Buffer[]): Buffer {
  const text = Buffer.from(LINES.join(''));
  const end = Buffer.alloc(8);
  end.writeUInt32LE(crc32(text));
  end.writeUInt32LE(text.length, 4);
  return Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]), ...pieces, Buffer.from([3, 0]), end]);
}

function piece(text: string): Buffer {
  return deflateRawSync(text, { finishFlush: constants.Z_FULL_FLUSH });
}

test('an index has the columns of a segment', async () => {
  expect(await indexOf(zipped([piece(LINES.slice(0, 3).join('')), piece(LINES[3] ?? '')]))).toEqual([
    [0],
    [0],
    [0],
    [1],
  ]);
});

test('an index takes the bytes that end a column for no end within a line', async () => {
  const text = LINES.join('');
  expect(await indexOf(zipped([piece(text.slice(0, 70)), piece(text.slice(70))]))).toEqual([[0], [0], [0], [0]]);
});

test('a segment without columns has no index, and one that was changed has none', async () => {
  expect(await indexOf(gzipSync(LINES.join('')))).toBeUndefined();
  const changed = zipped([piece(LINES.join(''))]);
  const store = new MemoryStore('');
  store.files.set(PATH, changed);
  const segment = { path: PATH, entries: 4, bytes: changed.length, sha256: 'a'.repeat(64) };
  expect(await makeIndex(store, { ...segment, first: null, last: null, supplementary: false }, {})).toBeUndefined();
});
