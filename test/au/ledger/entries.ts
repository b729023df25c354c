import type { ClaimEntry, EntryBody, Who } from '../../../src/au/ledger/entry.ts';

export const HASH = 'ab'.repeat(32);
export const WHO: Who = { host: 'runner-7', user: 'ci', version: '1.2.3' };

/** Returns a claim of a job whose times are those of 1 December 2026. */
export function claimBody(job: string, more: Partial<ClaimEntry> = {}): Extract<EntryBody, { kind: 'claim' }> {
  return {
    kind: 'claim',
    job,
    created_at: '2026-12-01T05:00:00Z',
    expires_at: '2026-12-01T06:00:00Z',
    row_set: HASH,
    rows: 31,
    part: 1,
    file: { name: 'tokens.csv', sha256: HASH, rows: 40 },
    bytes: 900,
    sha256: HASH,
    ...more,
  };
}
