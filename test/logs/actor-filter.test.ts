import { expect, it } from 'vitest';
import { ActorFilter } from '../../src/logs/actor-filter.ts';

const PERSON = 'a20690bc-f72e-4a86-aee3-7f01c4fb2237';
const OTHER = 'a20690bc-f72e-4a86-aee3-000000000000';

it('a filter of one actor takes a whole id in either case, and no other one', () => {
  const filter = new ActorFilter(PERSON.toUpperCase());
  expect([PERSON, PERSON.toUpperCase(), OTHER, undefined].map((id) => filter.matches(id))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

it('a filter of one actor finds the beginning of an id in either case among the actors seen', () => {
  for (const seen of [PERSON, PERSON.toUpperCase()]) {
    const filter = new ActorFilter('A20690BC');
    filter.see(seen);
    expect(() => filter.report()).not.toThrow();
  }
});

it('a filter of one actor takes the beginning of an id, and refuses a second actor with the same one', () => {
  const filter = new ActorFilter('A20690BC');
  expect(['4707c78a', null, PERSON, PERSON].map((id) => filter.matches(id))).toEqual([false, false, true, true]);
  expect(() => filter.matches(OTHER)).toThrow(
    expect.objectContaining({ code: 'usage', facts: { candidates: [PERSON, OTHER] } }),
  );
});
