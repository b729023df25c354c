import { SvcError } from '../../base/errors.ts';

/** Returns the error for a part of a ledger that is not as svc wrote it. */
export function damagedLedger(name: string, problem: string): SvcError {
  return new SvcError('config', `the ledger is damaged: ${name}: ${problem}; nothing was sent`, {
    hint: 'Run the command below on each machine that used this ledger: it puts back what that machine has a copy of. If it names entries as forked, the ledger was restored from a backup and went on: restore nothing then. Otherwise restore the object from a backup or an older version of the bucket. Never remove the ledger: the rows that it names would be paid for again.',
    next: ['au', 'ledger', 'repair'],
    facts: { object: name },
  });
}

/**
 * Returns the error for a place that has nothing of a ledger that this machine used there. An empty directory is what a
 * volume that is not mounted leaves: a ledger that is put back there is hidden from all machines when it is mounted again.
 */
export function absentLedger(place: string): SvcError {
  return new SvcError(
    'config',
    `this machine used the ledger in ${place}, and nothing of it is there; nothing was sent`,
    {
      hint: 'Check that the volume is mounted, or that the bucket is the same, and run the command again. Only if the ledger is lost, run the last of these commands on each machine that used it.',
      next: ['doctor'],
      alternatives: [['au', 'ledger', 'repair', '--whole']],
      facts: { ledger: place },
    },
  );
}

/** Returns the error for a place where another ledger was begun since this machine used one there. */
export function replacedLedger(place: string, settings: string, hasEntries: boolean): SvcError {
  const wayOut = hasEntries
    ? 'Both ledgers name rows that may have been paid for, and none knows those of the other: remove neither. Let whoever administers the place restore its older version, and send the rows of neither before the jobs that the command below lists were compared with both.'
    : `The new ledger is empty: whoever administers the place removes ${place}/${settings}, and the command below, on each machine that used the old ledger, puts that back.`;
  return new SvcError(
    'config',
    `the ledger in ${place} is another one than this machine used there; nothing was sent`,
    {
      hint: `Check that SVC_LEDGER is right, and for a bucket AWS_ENDPOINT_URL_S3. Otherwise the place was emptied, and a new ledger was begun, which does not know what was paid for: let no machine send rows. ${wayOut}`,
      next: hasEntries ? ['au', 'jobs'] : ['au', 'ledger', 'repair', '--whole'],
      facts: { ledger: place },
    },
  );
}

/**
 * Returns the error for an entry in whose place this machine read another one, or after which it read others. No object of
 * such a ledger may be put back or removed: both histories name rows that may have been paid for.
 */
export function forkedLedger(name: string, problem: string): SvcError {
  return new SvcError('config', `the ledger has two histories: ${name}: ${problem}; nothing was sent`, {
    hint: 'It was restored from a backup and went on without entries that this machine read, or two copies of it are in use. Let no machine send rows of this cycle, and restore nothing more. The command below lists the entries, and the jobs of this machine that the ledger does not have, and says how to go on.',
    next: ['au', 'ledger', 'repair'],
    facts: { object: name },
  });
}
