import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { logFromLine } from '../../src/client/api/logs.ts';
import { entryOf, secondsOf, Tally } from '../../src/logs/entry.ts';
import type { Log } from '../../src/schema/log.ts';

it('R28: an entry has the key by which checkpoints and archives know it', () => {
  const members = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.constant(null), fc.integer(), fc.boolean()));
  fc.assert(
    fc.property(fc.array(members, { minLength: 1, maxLength: 5 }), (rows) => {
      for (const row of rows) {
        const log = { ...row, message: 'a "quoted" one', created_at: '2026-01-31T09:00:00Z' };
        const names = Object.keys(log).toSorted();
        const text = JSON.stringify([
          names,
          names.map((name) => Object.entries(log).find(([key]) => key === name)?.[1]),
        ]);
        const key = createHash('sha256').update(text).digest('base64url').slice(0, 22);
        expect(entryOf(logFromLine(JSON.stringify(log))).key).toBe(key);
        expect(entryOf(log).key).toBe(key);
      }
    }),
  );
  expect(entryOf(logFromLine('{"operation":"read","created_at":"2026-01-31"}')).key).toBe(
    createHash('sha256').update('[["created_at","operation"],["2026-01-31","read"]]').digest('base64url').slice(0, 22),
  );
});

it('R28: a tally returns the lines of a moment, even where it has kept only texts', () => {
  const [tally, plain] = [new Tally(), new Tally()];
  const asked: [number, ReturnType<Tally['lines']>, ReturnType<Tally['lines']>][] = [];
  for (let number = 0; number < 20; number += 1) {
    tally.add(entryOf(logFromLine(made(number))));
    plain.add(entryOf(JSON.parse(made(number)) as Log));
    asked.push([number + 1, tally.lines(), plain.lines()]);
  }
  expect(tally.count(entryOf(logFromLine(made(7))))).toBe(4);
  for (const [total, lines, others] of asked.toReversed()) {
    expect(lines()).toStrictEqual(others());
    expect(lines().reduce((sum, [, , count]) => sum + count, 0)).toBe(total);
  }
  expect(tally.lines()()).toStrictEqual(new Tally(tally.lines()()).lines()());
});

it('the seconds of entries come with the fullest first, and without those of entries that have no time', () => {
  const times = ['09:00:01.1', '09:00:05.2', '09:00:03.9', '09:00:05.9', '09:00:03.1', '09:00:05.0'];
  const entries = times.map((time) => entryOf({ message: 'one', created_at: `2026-01-31T${time}Z` }));
  const seconds = secondsOf([...entries, entryOf({ message: 'two', created_at: 'then' })]);
  expect(seconds.map(({ from }) => new Date(from).getUTCSeconds())).toEqual([5, 3, 1]);
  expect(seconds.map(({ from, to }) => to - from)).toEqual([1000, 1000, 1000]);
});

function made(number: number): string {
  return `{"message":"${number % 3}","created_at":"2026-01-31T09:00:0${number % 2}Z","nested":{"b":1,"a":${number % 2}}}`;
}
