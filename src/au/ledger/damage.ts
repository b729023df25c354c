import { SvcError } from '../../base/errors.ts';

/** Returns the error for a part of a ledger that is not as svc wrote it. */
export function damagedLedger(name: string, problem: string): SvcError {
  return new SvcError('config', `the ledger is damaged: ${name}: ${problem}; nothing was sent`, {
    hint: 'Run the command below on each machine that used this ledger: it puts back what that machine has a copy of. Otherwise restore the object from a backup or an older version of the bucket. Never remove the ledger: the rows that it names would be paid for again.',
    next: ['au', 'ledger', 'repair'],
    facts: { object: name },
  });
}
