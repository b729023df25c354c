import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRecord, recordText, type RunRecord } from '../../src/account-updater/record.ts';
import { SvcError } from '../../src/errors.ts';

const RECORD: RunRecord = {
  version: 1,
  id: 'run-20260105-0a1b2c3d-4e5f',
  created_at: '2026-01-05T12:00:00.000Z',
  profile: 'default',
  base_url: 'https://service.example',
  tenant_id: 'tenant',
  input: { name: 't.csv', path: '/t.csv', rows: 2, bytes: 90, sha256: 'a', header_bytes: 50 },
  out: '/t.results.csv',
  parts: [
    {
      number: 1,
      first_row: 1,
      rows: 2,
      start: 50,
      end: 90,
      bytes: 90,
      sha256: 'b',
      state: 'downloaded',
      job: 'job-1',
      earlier_jobs: [{ job: 'job-0', ended: 'gone' }],
      results: { file: 'results-0001.csv', bytes: 10, sha256: 'c' },
    },
  ],
  results: { file: '/t.results.csv', bytes: 10, sha256: 'c' },
};

/** Every place in a value, as the keys that lead there. */
function placesIn(value: unknown, at: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [at.concat(key)].concat(placesIn(inner, at.concat(key))));
}

function put(value: unknown, place: readonly string[], what: unknown): void {
  const [key = '', ...rest] = place;
  const holder = value as Record<string, unknown>;
  if (rest.length > 0) put(holder[key], rest, what);
  else if (what === undefined) delete holder[key];
  else holder[key] = what;
}

describe('the record of a run', () => {
  it('is read as it was written, with what a later version may have added', () => {
    expect(parseRecord(recordText(RECORD), 'run.json')).toEqual(RECORD);
    const more = { ...RECORD, colour: 'blue' };
    expect(parseRecord(JSON.stringify(more), 'run.json')).toEqual(more);
  });

  it.each(['', 'null', '[]', '{}', '{"version":1', '{"version":0}', '"run"', '\u0000'])(
    'is refused by name and left alone when it is damaged: %j',
    (text) => {
      expect(() => parseRecord(text, 'run.json')).toThrow(
        expect.objectContaining({ code: 'config', message: expect.stringContaining('run.json is damaged') }),
      );
    },
  );

  it('of a newer version asks for a newer svc', () => {
    expect(() => parseRecord('{"version":2}', 'run.json')).toThrow(/newer svc/);
  });

  it('is either right or refused, whatever stands in it', () => {
    const odd = fc.constantFrom<unknown>(undefined, null, 0, -1, 1.5, '', [], {}, true, 'no such state', [1]);
    fc.assert(
      fc.property(fc.constantFrom(...placesIn(RECORD)), odd, (place, value) => {
        const record = structuredClone(RECORD);
        put(record, place, value);
        try {
          const read = parseRecord(JSON.stringify(record), 'run.json');
          for (const { job, state, results, errors = [], earlier_jobs: jobs = [] } of read.parts) {
            expect(state === 'planned' || state === 'creating' || typeof job === 'string').toBe(true);
            expect(state !== 'downloaded' || typeof results?.sha256 === 'string').toBe(true);
            expect([...errors, ...jobs.map(({ job: id }) => id)].every((text) => typeof text === 'string')).toBe(true);
          }
          expect([typeof read.out, typeof read.results?.file, typeof read.tenant_id]).toSatisfy((types: string[]) =>
            types.every((type) => type === 'string' || type === 'undefined'),
          );
        } catch (error) {
          if (!(error instanceof SvcError)) throw error;
          if (error.code !== 'config') throw error;
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
