import { expect, it } from 'vitest';
import type { CommandLedger } from '../../../src/au/ledger/command-ledger.ts';
import type { ClaimEntry } from '../../../src/au/ledger/entry.ts';
import type { Part } from '../../../src/au/run/part.ts';
import type { Context } from '../../../src/cli/app/command.ts';
import type { RunDirectory } from '../../../src/au/run/run-directory.ts';
import { giveUpReusedJobs } from '../../../src/au/send/reused-jobs.ts';
import { claimBody, WHO } from '../ledger/entries.ts';
import { part, recordOf } from '../run/parts.ts';

const NEVER_SENT = { sent_at: undefined };

/** Returns what is left of a part once it was compared with a ledger in which its job has a file of this hash. */
async function compared(before: Part, sha256: string | undefined): Promise<Part | undefined> {
  const claim: ClaimEntry = {
    version: 1,
    previous: null,
    at: '2026-01-05T12:00:00Z',
    by: { ...WHO },
    ...claimBody('job-1', { sha256: sha256 ?? '' }),
  };
  const cycle = { read: async () => [claim] };
  const ledger = { open: async () => ({ cycleOfJob: async () => (sha256 === undefined ? undefined : cycle) }) };
  const run = { record: recordOf(before), save: () => undefined };
  await giveUpReusedJobs(
    { notices: { warn: () => undefined } } as unknown as Context,
    run as unknown as RunDirectory,
    ledger as unknown as CommandLedger,
  );
  return run.record.parts[0];
}

it.each([
  ['was created', part('created')],
  ['was seen with a file', part('uploaded', 'stored', NEVER_SENT)],
  ['was seen completed', part('completed', 'stored', NEVER_SENT)],
  ['was seen failed', part('failed', 'stored', NEVER_SENT)],
])(
  'R79: a job that %s, and to which the ledger binds other rows, is given up with its record of an older time',
  async (_, before) => {
    expect(await compared(before, 'b')).toMatchObject({ state: 'planned', sha256: 'a' });
    expect(await compared(before, 'b')).not.toHaveProperty('job');
  },
);

it.each([
  ['the same rows', part('uploaded', 'stored', NEVER_SENT), 'a'],
  ['no claim', part('created'), undefined],
  ['other rows, although this record began to send its own', part('uploaded', 'stored'), 'b'],
  [
    'other rows, and whose results are here',
    part('downloaded', 'stored', {
      ...NEVER_SENT,
      results: { file: 'x.csv', bytes: 1, sha256: 'x', job: 'job-1', proof: 'md5', compared: true },
    }),
    'b',
  ],
])('a job with %s stays', async (_, before, sha256) => {
  expect(await compared(structuredClone(before), sha256)).toEqual(before);
});
