import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EntryBody, entryBytes, parseEntry } from '../../../src/au/ledger/entry.ts';
import { MAX_ENTRY_BYTES } from '../../../src/au/ledger/objects.ts';
import { isSvcError, type SvcError } from '../../../src/base/errors.ts';
import { claimBody, HASH, WHO } from './entries.ts';

const COMMON = { previous: HASH, at: '2026-12-01T06:00:00.000Z', by: WHO };
const PLACE = 's3://bucket/ours/cycles/2026-12/00000007.json';

const BODIES: readonly EntryBody[] = [
  claimBody('job-1'),
  { ...claimBody('job-1'), row_set: null, expires_at: null },
  { kind: 'done', job: 'job-1', born: HASH },
  { kind: 'done', job: 'job-1', born: null },
  { kind: 'done', job: 'job-1', born: HASH, delivered: false },
  { kind: 'release', job: 'job-1', why: 'failed', proof: 'the service said that job job-1 failed' },
  { kind: 'release', job: 'job-1', why: 'gone', proof: 'two lists' },
  { kind: 'release', job: 'job-1', why: 'operator', proof: '' },
];

/** Returns the entry as an object that a test can change. */
function entry(body: EntryBody = claimBody('job-1')): Record<string, unknown> {
  return JSON.parse(Buffer.from(entryBytes(body, COMMON)).toString()) as Record<string, unknown>;
}

function bytesOf(value: unknown): Uint8Array {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
}

function refusal(value: unknown): SvcError {
  try {
    parseEntry(value instanceof Uint8Array ? value : bytesOf(value), PLACE);
  } catch (error) {
    if (isSvcError(error)) return error;
    throw error;
  }
  throw new Error('the entry was taken');
}

function outcome(bytes: Uint8Array): string {
  try {
    parseEntry(bytes, PLACE);
    return 'taken';
  } catch (error) {
    return isSvcError(error) ? error.code : 'another error';
  }
}

describe('an entry of a ledger', () => {
  it.each(BODIES.map((body) => [body.kind, body] as const))(
    'an entry of a ledger survives its bytes: %s',
    (_, body) => {
      for (const previous of [HASH, null]) {
        const common = { ...COMMON, previous };
        const bytes = entryBytes(body, common);
        expect(parseEntry(bytes, PLACE)).toEqual({ version: 2, ...common, ...body });
        expect(Buffer.from(bytes).toString()).toMatch(/^\{.*\}\n$/);
      }
    },
  );

  it('an entry of a ledger keeps members that this version does not know', () => {
    const written = { ...entry(), note: { by: 'another version' } };
    expect(parseEntry(bytesOf(written), PLACE)).toEqual(written);
    const { by, file } = entry() as { by: object; file: object };
    const nested = { ...entry(), by: { ...by, region: 'eu' }, file: { ...file, columns: 4 } };
    expect(parseEntry(bytesOf(nested), PLACE)).toEqual(nested);
  });

  it('an entry of version 1 is read', () => {
    const written = { ...entry(), version: 1 };
    expect(parseEntry(bytesOf(written), PLACE)).toEqual(written);
  });

  it('an entry of a newer version is refused with the place and the cure', () => {
    const error = refusal({ ...entry(), version: 3, kind: 'news' });
    expect([error.exitCode, error.message]).toEqual([3, `${PLACE} was written by a newer svc (its version is 3)`]);
    expect(error.hint).toBe('Update svc on this machine.');
  });

  const { job: _job, ...withoutJob } = entry();
  const whole = entryBytes(claimBody('job-1'), COMMON);
  it.each<readonly [string, unknown]>([
    ['of an unknown kind', { ...entry(), kind: 'moved' }],
    ['without a version', { ...entry(), version: undefined }],
    ['without a job', withoutJob],
    ['with an empty job', { ...entry(), job: '' }],
    ['with a previous that is no hash', { ...entry(), previous: 'none' }],
    ['with a set that is no hash', { ...entry(), row_set: '../../etc/passwd' }],
    ['with a time that is none', { ...entry(), created_at: 'yesterday' }],
    ['with rows below zero', { ...entry(), rows: -1 }],
    ['with keys of another kind', { ...entry(), keys: 3 }],
    ['with half a row', { ...entry(), rows: 0.5 }],
    ['with a user of many letters', { ...entry(), by: { ...WHO, user: 'u'.repeat(1001) } }],
    ['that is empty', ''],
    ['that is no JSON', '<html></html>'],
    ['that is no object', [entry()]],
    ['that is null', null],
    ['that is cut', whole.subarray(0, whole.byteLength - 3)],
    ['that is too large', { ...entry(), note: 'n'.repeat(MAX_ENTRY_BYTES) }],
  ])('an entry %s is refused with its place, and nothing is sent', (_, value) => {
    const error = refusal(value);
    expect(error.code).toBe('config');
    expect(error.exitCode).toBe(3);
    expect(error.message).toContain(PLACE);
    expect(error.message).toContain('nothing was sent');
    expect(error.facts).toEqual({ object: PLACE });
  });

  it('an entry that was cut anywhere, or of which one byte changed, causes no other error', () => {
    fc.assert(
      fc.property(fc.nat(whole.byteLength - 2), fc.constantFrom(0, 0x20, 0x7b, 0xff), (at, byte) => {
        expect(refusal(whole.subarray(0, at)).code).toBe('config');
        const changed = Uint8Array.from(whole);
        changed[at] = byte;
        expect(['taken', 'config']).toContain(outcome(changed));
      }),
    );
  });
});

it.each<readonly [string, EntryBody]>([
  ['a job id of many letters', claimBody('j'.repeat(1001))],
  ['a time that is none', { ...claimBody('job-1'), expires_at: 'soon' }],
  ['a hash that is none', { ...claimBody('job-1'), sha256: 'a' }],
])('an entry with %s is never written, because it would block every machine', (_, body) => {
  expect(() => entryBytes(body, COMMON)).toThrow('nothing was sent');
});
