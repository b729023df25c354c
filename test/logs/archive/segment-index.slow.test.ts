import { array, assert, constant, oneof, property, string, uuid as anyUuid } from 'fast-check';
import { expect, test } from 'vitest';
import {
  BLOCK_WORDS,
  blocksOf,
  type BuiltFilter,
  FilterBuilder,
  keyOf,
  mayHold,
  placeOf,
} from '../../../src/logs/archive/segment-index.ts';
import { anyCharacter } from '../../support/any-character.ts';

test('R69: a filter finds each of 100,000 added ids, in columns of every size', () => {
  const sizes = [1, 41, 42, 600, 1200, 2600, 5200, 10_400, 20_000, 60_000];
  for (const size of sizes) {
    const ids = Array.from({ length: size }, (_, at) => uuid(size * 100_000 + at));
    const filter = filterOf(ids);
    expect(ids.filter((id) => !holds(filter, id))).toEqual([]);
    expect(ids.filter((id) => !holds(filter, id.toUpperCase()))).toEqual([]);
  }
});

test('R69: a filter finds every added id, whatever its text', () => {
  const ids = array(oneof(string({ unit: anyCharacter }), anyUuid(), constant('')), { maxLength: 300 });
  assert(
    property(ids, (added) => {
      const filter = filterOf(added);
      expect(added.filter((id) => !holds(filter, id))).toEqual([]);
    }),
  );
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
