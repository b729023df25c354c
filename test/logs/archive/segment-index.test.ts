import { createHash } from 'node:crypto';
import { assert, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import {
  BLOCK_WORDS,
  blocksOf,
  type BuiltFilter,
  FilterBuilder,
  keyAt,
  keyOf,
  mayHold,
  placeOf,
} from '../../../src/logs/archive/segment-index.ts';
import { anyCharacter } from '../../support/any-character.ts';

test('a filter wrongly reports fewer than one in a hundred other ids', () => {
  const filter = filterOf(Array.from({ length: 10_000 }, (_, at) => uuid(at)));
  const wrong = Array.from({ length: 50_000 }, (_, at) => uuid(at + 1_000_000)).filter((id) => holds(filter, id));
  expect(wrong.length).toBeLessThan(500);
  expect(filter.words.byteLength).toBe(18_432);
});

function filterOf(ids: readonly string[]): BuiltFilter {
  const builder = new FilterBuilder();
  for (const id of ids) builder.add(keyOf(id));
  return builder.finish();
}

function holds({ sizeClass, words }: BuiltFilter, id: string): boolean {
  const key = keyOf(id);
  return mayHold(words, placeOf(key, blocksOf(sizeClass)) * BLOCK_WORDS, key);
}

function uuid(number: number): string {
  return `3f2c1b5e-9d4a-4f7b-8e21-${number.toString(16).padStart(12, '0')}`;
}

test('R69: an id has the same key by its bytes as by its text', () => {
  const text = string({ unit: anyCharacter });
  assert(
    property(text, text, (before, id) => {
      const bytes = Buffer.from(`${before}${id}"`);
      const start = Buffer.byteLength(before);
      expect(keyAt(bytes, { start, end: bytes.length - 1 })).toEqual(keyOf(Buffer.from(id).toString()));
    }),
  );
  expect(keyAt(Buffer.from('null'), { start: -1, end: 4 })).toBeUndefined();
});

test('R69: a filter has the bytes that the filters of existing indexes have', () => {
  const { words } = filterOf(Array.from({ length: 100 }, (_, at) => uuid(at)));
  const bytes = Buffer.from(words.buffer, words.byteOffset, words.byteLength);
  // Another hash means that ids in existing archives are no longer found.
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(
    'f387b56bc4b9b4b873d3cf6e77a1d634015adeb09416d0d796d4704b95d34368',
  );
});
