import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Part, partOf, type PartState, type RecordedPart } from '../../../src/au/run/part.ts';
import { parseRecord } from '../../../src/au/run/parse-record.ts';
import { hasUnknown, needsFile, progressOf, recordText, type RunRecord, statusOf } from '../../../src/au/run/record.ts';
import { SvcError } from '../../../src/base/errors.ts';

const RECORD: RunRecord = {
  version: 2,
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
      start: 0,
      end: 90,
      bytes: 90,
      sha256: 'b',
      state: 'downloaded',
      job: 'job-1',
      sent: 'stored',
      earlier_jobs: [{ job: 'job-0', ended: 'gone' }],
      results: { file: 'results-0001.csv', bytes: 10, sha256: 'c', job: 'job-1', proof: 'md5', compared: true },
    },
  ],
  results: { file: '/t.results.csv', bytes: 10, sha256: 'c' },
};

/** Returns every place in a value, as the list of keys that lead there. */
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

/** Tells whether a record can be read when a part in this state lacks this member. */
function isRead(state: PartState, left: 'job' | 'results'): boolean {
  const { [left]: _, ...part } = RECORD.parts[0]!;
  try {
    parseRecord(JSON.stringify({ ...RECORD, parts: [{ ...part, state }] }), 'run.json');
    return true;
  } catch {
    return false;
  }
}

describe('the record of a run', () => {
  it('the record of a run is read as it was written, with what a later version may have added', () => {
    expect(parseRecord(recordText(RECORD), 'run.json')).toEqual(RECORD);
    const more = { ...RECORD, colour: 'blue' };
    expect(parseRecord(JSON.stringify(more), 'run.json')).toEqual(more);
  });

  it('R36: the record of a run of an older version is read with parts as this version records them, and keeps what only a later one knows', () => {
    const { sent: _sent, results: _results, ...part } = RECORD.parts[0]!;
    const begun = { ...part, state: 'uploading', sent_at: '2026-01-05T12:00:00.000Z', color: 'blue' };
    const read = parseRecord(JSON.stringify({ ...RECORD, parts: [begun] }), 'run.json');
    expect(read.parts).toEqual([{ ...begun, sent: 'all' }]);
    expect(parseRecord(recordText(read), 'run.json')).toEqual(read);
  });

  it('the record of a run names the rows of divided parts, and no other file', () => {
    const joined = {
      rows: 9,
      by: 'ci@runner-7',
      provable_at: '2026-01-05T13:15:01.000Z',
      provable_until: '2026-01-12T12:00:00.000Z',
    };
    const withRows = (name: string): string =>
      JSON.stringify({ ...RECORD, parts: [{ ...RECORD.parts[0]!, rows_file: name, joined }] });
    expect(parseRecord(withRows('rows-0001.csv'), 'run.json').parts).toMatchObject([
      { rows_file: 'rows-0001.csv', joined },
    ]);
    for (const name of ['../rows-0001.csv', '/etc/passwd', 'run.json', 'rows-1.csv', ''])
      expect(() => parseRecord(withRows(name), 'run.json')).toThrow('run.json is damaged: part 1 is malformed');
  });

  it.each(['', 'null', '[]', '{}', '{"version":1', '{"version":0}', '"run"', '\u0000'])(
    'the record of a run is refused by name and left alone when it is damaged: %j',
    (text) => {
      expect(() => parseRecord(text, 'run.json')).toThrow(
        expect.objectContaining({ code: 'config', message: expect.stringContaining('run.json is damaged') }),
      );
    },
  );

  it('the record of a run of a newer version asks for a newer svc', () => {
    expect(() => parseRecord('{"version":3}', 'run.json')).toThrow(
      expect.objectContaining({ code: 'config', hint: 'Update svc on this machine.' }),
    );
    for (const version of ['2', 0, null])
      expect(() => parseRecord(JSON.stringify({ ...RECORD, version }), 'run.json')).toThrow(
        'run.json is damaged: version is missing or malformed',
      );
  });

  it('R58: the record of a run has a job in each part that is beyond its creation, and results in each that is downloaded', () => {
    const states = [
      'planned',
      'creating',
      'created',
      'uploading',
      'uploaded',
      'completed',
      'failed',
      'unknown',
    ] as const;
    expect(states.filter((state) => isRead(state, 'job'))).toEqual(['planned', 'creating']);
    expect(states.filter((state) => isRead(state, 'results'))).toEqual(states);
    expect([isRead('downloaded', 'job'), isRead('downloaded', 'results')]).toEqual([false, false]);
  });

  it('R58: the record of a run is refused when any of its members is of another type, and read without those that may be missing', () => {
    const [part] = RECORD.parts;
    const file = { file: 'f', bytes: 1, sha256: 'c' };
    const full = {
      ...RECORD,
      also_at: ['https://other.example', 'https://third.example'],
      cycle: '2026-12',
      abandoned_at: 'then',
      writing: { ...file },
      parts: [
        {
          ...part!,
          creating_since: 'then',
          sent: 'stored',
          sent_at: 'then',
          expires_at: 'then',
          missing_since: 'then',
          done_at: 'then',
          seen: 'completed',
          errors: ['one', 'two'],
          earlier_jobs: [
            { job: 'job-0', ended: 'gone', sent_at: 'then' },
            { job: 'job-2', ended: 'failed' },
          ],
          unproven: { ...file, job: 'job-1' },
        },
      ],
    } satisfies Omit<RunRecord, 'parts'> & { parts: RecordedPart[] };
    /** Returns why a record with another value in this place is refused, or undefined if it is not. */
    const refusal = (place: readonly string[], value?: unknown): string | undefined => {
      const record = structuredClone(full);
      put(record, place, value);
      try {
        parseRecord(JSON.stringify(record), 'run.json');
        return undefined;
      } catch (error) {
        return error instanceof SvcError ? error.message : String(error);
      }
    };
    const places = placesIn(full).filter((place) => !['version', 'ended'].includes(place.at(-1) ?? ''));
    for (const place of places)
      for (const wrong of [null, -1, 1.5, 2 ** 53, [], [1], {}, true]) {
        if (wrong === true && place.at(-1) === 'compared') continue;
        // These members may be empty lists.
        if (Array.isArray(wrong) && wrong.length === 0 && /also_at|errors|earlier_jobs/.test(place.at(-1) ?? ''))
          continue;
        expect(refusal(place, wrong), `${place.join('.')}: ${JSON.stringify(wrong)}`).toMatch(damage(place));
      }
    const optional = places.filter((place) => refusal(place) === undefined).map((place) => place.join('.'));
    expect(optional.join(' ').replaceAll('parts.0.', '').split(' ')).toEqual(
      [
        'tenant_id input.path out sent earlier_jobs earlier_jobs.0.sent_at results.compared creating_since sent_at expires_at',
        'missing_since done_at seen errors unproven results also_at cycle abandoned_at writing',
      ].flatMap((names) => names.split(' ')),
    );
  });

  it('the record of a run is either right or refused, whatever stands in it', () => {
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

/** Returns a pattern for the message about a malformed member. */
function damage([name = '']: readonly string[]): RegExp {
  return name === 'parts' ? /part 1 is malformed|parts is missing/ : new RegExp(`: ${name} is missing or malformed`);
}

function numbered(state: PartState, at: number): Part {
  const job = state === 'planned' || state === 'creating' ? undefined : 'job-1';
  const sent = state === 'created' || state === 'uploading' ? 'some' : 'stored';
  return partOf({ ...RECORD.parts[0]!, job, sent, number: at + 1, state });
}

function parts(...states: PartState[]): { parts: Part[] } {
  return { parts: states.map(numbered) };
}

describe('the parts of a run', () => {
  it('the parts of a run say how far the run is', () => {
    const states: [PartState[], string][] = [
      [['downloaded', 'downloaded'], 'completed'],
      [['downloaded', 'failed'], 'failed'],
      [['failed', 'uploaded'], 'open'],
      [['downloaded', 'unknown'], 'open'],
      [['planned'], 'open'],
    ];
    for (const [each, status] of states) {
      expect([each, statusOf(parts(...each))]).toEqual([each, status]);
      const abandoned = status === 'completed' ? status : 'abandoned';
      expect(statusOf({ ...parts(...each), abandoned_at: 'then' })).toBe(abandoned);
    }
  });

  it('the parts of a run need the file until the last of them is uploaded', () => {
    for (const state of ['planned', 'creating', 'created', 'uploading'] as const)
      expect([state, needsFile(parts('downloaded', state))]).toEqual([state, true]);
    for (const state of ['uploaded', 'completed', 'downloaded', 'failed', 'unknown'] as const)
      expect([state, needsFile(parts(state))]).toEqual([state, false]);
  });

  it('the parts of a run are in doubt when one of them is', () => {
    expect(hasUnknown(parts('downloaded', 'unknown'))).toBe(true);
    expect(hasUnknown(parts('downloaded', 'uploading'))).toBe(false);
  });

  it("the parts of a run are told in the service's words, one alone by its own", () => {
    const [one] = parts('uploaded').parts;
    expect(progressOf({ parts: [partOf({ ...one!, seen: 'processing' })] })).toBe('processing');
    expect(progressOf({ parts: [partOf({ ...one!, state: 'unknown', seen: 'pending' })] })).toBe('unknown');
    expect(progressOf(parts('creating'))).toBe('creating');
    const some = parts('downloaded', 'completed', 'uploaded', 'unknown', 'unknown');
    expect(progressOf(some)).toBe('2 of 5 jobs done, 1 uploaded, 2 unknown');
    for (const part of some.parts) Object.assign(part, { seen: 'pondering' });
    expect(progressOf(some)).toBe('2 of 5 jobs done, 1 pondering, 2 unknown');
  });

  it('the parts of a run that wait for the same job of another run count as one job', () => {
    const joined = { rows: 9, by: 'ci@runner-7' };
    const ofJob = (state: PartState, number: number): Part => partOf({ ...parts(state).parts[0]!, number, joined });
    const own = parts('downloaded').parts;
    expect(progressOf({ parts: [...own, ofJob('uploaded', 2), ofJob('uploaded', 3)] })).toBe(
      '1 of 2 jobs done, 1 uploaded',
    );
    expect(progressOf({ parts: [ofJob('downloaded', 1), ofJob('uploaded', 2)] })).toBe('uploaded');
  });

  it('R58: the parts of a run say until when the outcome of an upload may be unknown, where that has an end', () => {
    const some = parts('downloaded', 'unknown', 'unknown');
    const [, first, second] = some.parts;
    Object.assign(first!, { sent: 'all', expires_at: '2026-11-23T14:00:00.000Z' });
    expect(progressOf({ parts: [first!] })).toBe('unknown until 2026-11-23 14:15:01Z');
    expect(progressOf(some)).toBe('1 of 3 jobs done, 2 unknown');
    Object.assign(second!, { sent: 'all', sent_at: '2026-11-23T13:10:00.000Z' });
    expect(progressOf(some)).toBe('1 of 3 jobs done, 2 unknown until 2026-11-23 14:25:01Z');
  });
});
