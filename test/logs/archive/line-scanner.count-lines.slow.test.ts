import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTime } from '../../../src/cli/output/time.ts';
import { LineClock, LineCounter } from '../../../src/logs/archive/line-scanner.ts';
import { readLine } from '../../../src/logs/archive/read-segment.ts';
import { LogCounts } from '../../../src/logs/count.ts';

const START = Date.UTC(2026, 0, 5, 20);
const HOUR = 3_600_000;
const INTERVAL = { since: START, until: START + 30 * HOUR };
const PATH = 'tenant=t/date=2026-01-05/part-00000001-0.raw.gz';

/** Counts lines by their bytes in blocks of a few lines, and by parsing each line. */
function counted(lines: readonly string[], linesInBlock: number) {
  const [quick, plain] = [new LogCounts(), new LogCounts()];
  const counter = new LineCounter({ ...INTERVAL, onGroup: (log, bucket) => quick.add(log, bucket) });
  for (let at = 0; at < lines.length; at += linesInBlock) {
    const block = lines.slice(at, at + linesInBlock).map((line) => `${line}\n`);
    counter.add(Buffer.from(block.join('')), PATH);
  }
  counter.flush();
  for (const line of lines) {
    const log = readLine(PATH, line);
    const at = parseTime(log.created_at);
    if (at !== undefined && at >= INTERVAL.since && at < INTERVAL.until) plain.add(log);
  }
  return { quick: quick.rows(INTERVAL), plain: plain.rows(INTERVAL) };
}

const FRACTIONS = ['', '.', '.5', '.123', '.1239999', '.0000001', '.999'];
const time = fc
  .tuple(
    fc.integer({ min: -HOUR, max: 31 * HOUR }),
    fc.constantFrom(...FRACTIONS),
    fc.constantFrom('Z', 'Z', 'Z', '', 'z', '+01:00', 'ZZ', '.Z'),
    fc.constantFrom('T', 'T', ' '),
  )
  .map(([at, fraction, zone, mark]) => {
    const text = new Date(START + at).toISOString().slice(0, 19).replace('T', mark);
    return `${text}${fraction}${zone}`;
  });
const oddTime = fc.constantFrom(
  '',
  '2026-01-05',
  '2026-01-06T24:00:00Z',
  '2026-01-06T24:00:01Z',
  '2026-01-05T20:00:60Z',
);
const word = fc.constantFrom('create', 'read', 'card', 'token', 'user', 'a1', 'ü', '\u{1f600}', '', 'x"y', 'a\\u0062');
const value = fc.oneof(
  { weight: 6, arbitrary: word.map((text) => JSON.stringify(text)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('null', 'true', '12345678901234567890', '{"operation":"x"}', '[]', '"\\u0061"'),
  },
);
const NAMES = ['entity_type', 'operation', 'actor_type', 'actor_id', 'message', 'created_at', '__proto__', 'x'];
const member = fc.tuple(fc.constantFrom(...NAMES), value).map(([name, text]) => `"${name}":${text}`);
const line = fc
  .tuple(fc.oneof({ weight: 5, arbitrary: time }, oddTime), fc.array(member, { maxLength: 6 }), fc.nat())
  .map(([at, members, place]) => {
    const all = members.toSpliced(place % (members.length + 1), 0, `"created_at":"${at}"`);
    return `{${all.join(',')}}`;
  });

describe('lines counted by their bytes', () => {
  it('R69: counting lines by their bytes gives the same counts as parsing every line', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), fc.integer({ min: 1, max: 9 }), (lines, linesInBlock) => {
        const { quick, plain } = counted(lines, linesInBlock);
        expect(quick).toEqual(plain);
      }),
      { numRuns: process.env['SOAK'] === '1' ? 20_000 : 150 },
    );
  });

  it('counting lines by their bytes gives the same counts with more actors than are counted individually', () => {
    const lines = Array.from({ length: 25_000 }, (_, index) => {
      const actor = `${index % 3 === 0 ? 7 : index}`;
      return `{"actor_id":"${actor}","actor_type":"t${index % 5}","created_at":"2026-01-05T20:${10 + (index % 50)}:00Z"}`;
    });
    const { quick, plain } = counted(lines, 1000);
    expect(plain).toContainEqual(expect.objectContaining({ value: '(others)' }));
    expect(quick).toEqual(plain);
  });

  it('counting lines by their bytes reports a line that is not a log entry', () => {
    const counter = new LineCounter({ ...INTERVAL, onGroup: () => undefined });
    const path = PATH.replace('.raw', '.jsonl');
    const problems = [
      '{"a":"b"',
      '{"a":"b"}}',
      '{"a":"\t"}',
      '{"a":nul}',
      '{"a":"b",}',
      '{"a" :"b"',
      '',
      'null',
      '"a"',
    ];
    for (const text of problems)
      expect(() => counter.add(Buffer.from(`{"a":"b"}\n${text}\n`), path), text).toThrow(`${path} was changed`);
  });
});

describe('a clock for lines', () => {
  it('the line clock reads each time as the general parser does', () => {
    const clock = new LineClock();
    fc.assert(
      fc.property(fc.oneof(time, oddTime, fc.string()), (text) => {
        const bytes = Buffer.from(`"${text}",`);
        const found = clock.read(bytes, 1, bytes.length - 2);
        expect(found).toBe(parseTime(bytes.toString('utf8', 1, bytes.length - 2)));
      }),
      { numRuns: process.env['SOAK'] === '1' ? 100_000 : 800 },
    );
  });
});
