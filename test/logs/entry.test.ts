import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { logFromLine } from '../../src/api/logs.ts';
import { entryOf } from '../../src/logs/entry.ts';

it('R28 an entry has the key that checkpoints and archives of earlier versions know it by', () => {
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
