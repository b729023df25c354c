import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { logFromLine } from '../../../src/client/api/logs.ts';
import { checkSegment } from '../../../src/logs/prove/check-segment.ts';
import { dayOf, entryTime, segmentName, tenantFolder } from '../../../src/logs/archive/records/record.ts';
import { MemoryStore } from '../archive/memory-store.ts';
import { cases } from '../../support/cases.ts';

const TENANT = 't-1';
const FRAME = 'its first and last entry are not of the times in the manifest';

/** Checks a segment with these lines, whose record has a single time as its first and last. */
async function check(lines: readonly string[], day: string, time: string | null): Promise<string[]> {
  const store = new MemoryStore('');
  const bytes = gzipSync(lines.map((line) => `${line}\n`).join(''));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const path = `tenant=${TENANT}/date=${day}/${segmentName(1, sha256, false)}`;
  const times = { first: time, last: time, supplementary: false };
  const segment = { path, entries: lines.length, bytes: bytes.length, sha256, ...times };
  store.files.set(path, bytes);
  const listed = { segment, sequence: 1, tenantId: TENANT, file: { bytes: bytes.length } };
  return (await checkSegment(store, listed, {})).map(({ message }) => message);
}

/** Returns the expected problems by parsing every line. */
function parsed(lines: readonly string[], day: string, time: string | null): string[] {
  const logs = lines.map(logFromLine);
  const times = logs.map(entryTime);
  const known = times.filter((at) => at !== undefined);
  const highest = known.map((_, index) => Math.max(-Infinity, ...known.slice(0, index)));
  const counts = {
    'are of another tenant': logs.filter((log) => tenantFolder(log.tenant_id ?? TENANT) !== `tenant=${TENANT}`).length,
    'are of another day': times.filter((at) => dayOf(at) !== day).length,
    'are not in order of time': known.filter((at, index) => at < (highest[index] ?? 0)).length,
  };
  const isFramed = known.every((at) => at === Date.parse(time ?? '')) && known.length > 0 === (time !== null);
  const counted = Object.entries(counts).filter(([, count]) => count > 0);
  return [...(isFramed ? [] : [FRAME]), ...counted.map(([words, count]) => `${count} of its entries ${words}`)];
}

const times = [
  '"2026-01-05T00:00:00Z"',
  '"2026-01-05T09:00:00Z"',
  '"2026-01-05T09:00:59.999Z"',
  '"2026-01-05T09:00:59.9999999Z"',
  '"2026-01-05T09:00:60Z"',
  '"2026-01-06T00:00:00Z"',
  '"2026-01-06T01:00:00+02:00"',
  '"2026\\u002d01-05T09:00:00Z"',
  '"9999-12-31T23:59:59-05:00"',
  '"0000-01-01T00:00:00+05:00"',
  '"soon"',
  '""',
  'null',
  '7',
  '{"at":1}',
];
const tenants = ['"t-1"', '"t-2"', '"t\\u002d1"', '""', 'null', '1'];
const member = fc.oneof(
  fc.constantFrom(...times).map((value) => `"created_at":${value}`),
  fc.constantFrom(...tenants).map((value) => `"tenant_id":${value}`),
  fc.constantFrom('"message":"é"', String.raw`"created\u005fat":"2026-01-05T09:00:00Z"`, '"n":[1]', '"x":null'),
);
const line = fc.array(member, { maxLength: 5 }).map((members) => `{${members.join(',')}}`);

describe('the check of a segment', () => {
  it('R66: checking the bytes of lines finds the same problems as parsing each line', async () => {
    const day = fc.constantFrom('2026-01-05', 'unknown', '2026-02-30');
    const time = fc.constantFrom(null, '2026-01-05T09:00:00.000Z');
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 6 }), day, time, async (lines, of, at) => {
        expect(await check(lines, of, at)).toEqual(parsed(lines, of, at));
      }),
      { numRuns: cases(5_000) },
    );
  });

  it('R66: checking a segment finds a line that is not a log entry', async () => {
    const whole = '{"tenant_id":"t-1","created_at":"2026-01-05T09:00:00Z"}';
    for (const odd of [`${whole}}`, whole.slice(0, -1), whole.replace(',', ''), '[]', '', '{"a":"\t"}'])
      expect(await check([whole, odd, whole], '2026-01-05', '2026-01-05T09:00:00.000Z'), odd).toHaveLength(1);
  });
});
