// The errors for a ledger that is damaged, missing or forked, with what the operator can do.

import { SvcError } from '../../base/errors.ts';
import { utcTime } from '../../cli/output/time.ts';
import type { StoredFile } from '../../client/store/store.ts';
import { UNDER_WAY_MS, UPLOAD_LIFE_MS } from '../../schema/account-updater-files.ts';

/** Returns the error for an object of a ledger that svc did not write like this. */
export function damagedLedger(name: string, problem: string): SvcError {
  return new SvcError('config', `the ledger is damaged: ${name}: ${problem}; nothing was sent`, {
    hint: "Run the same command on each machine that used this ledger: it restores missing objects from that machine's copies. If an object exists and differs, ask the administrator of the storage to restore it from a backup or an older version. Never delete the ledger: the rows that it names would be paid for again.",
    next: ['doctor'],
    facts: { object: name },
  });
}

/** A folder with a list of its objects. */
interface Listed {
  list(prefix: string): Promise<ReadonlyMap<string, StoredFile>>;
  shownName(name: string): string;
}

/**
 * Returns the error for an entry that cannot be read, such as one cut by an interrupted copy. The last entry of a cycle may have
 * been a claim whose job still gets its file, so it may be removed only after the job's upload address has expired.
 */
export async function unreadableEntry(
  folder: Listed,
  { name, next }: { readonly name: string; readonly next: string },
): Promise<SvcError> {
  const listed = await folder.list(name.slice(0, name.lastIndexOf('/') + 1));
  const changedAt = listed.get(name)?.changedAt;
  const isLast = !listed.has(next);
  const from = changedAt === undefined ? undefined : changedAt + UPLOAD_LIFE_MS + UNDER_WAY_MS;
  const when =
    from === undefined
      ? 'After 75 minutes in which no machine submitted'
      : `From ${utcTime(from)} on, if no machine submits until then`;
  const hint = isLast
    ? `${when}, the administrator of the storage may remove exactly this object. The next command that sends rows, on a machine that has a copy of it, puts it back. If none has one, submissions stop (3) as long as the service has the file of its job. Run the command on the machines that used this ledger first.`
    : 'Ask the administrator of the storage to restore it, or to remove exactly this object: the next command that sends rows, on a machine that has a copy of it, then puts it back. Never delete the ledger: the rows that it names would be paid for again.';
  const error = damagedLedger(folder.shownName(name), 'it is cut, or is no entry of a ledger');
  return error.with({
    hint,
    facts: { ...error.facts, ...(isLast && from !== undefined && { removable_from: new Date(from).toISOString() }) },
  });
}

/**
 * Returns the error for an empty place where this machine used a ledger before. The volume may not be mounted: a ledger that is
 * put back into the empty directory would be hidden once the volume is mounted again.
 */
export function absentLedger(place: string, copies: string | undefined): SvcError {
  const own =
    copies === undefined
      ? ''
      : ` Only if the ledger is lost and there is no backup of it, copy what is in ${copies} there.`;
  return new SvcError(
    'config',
    `this machine used the ledger in ${place}, and nothing of it is there; nothing was sent`,
    {
      hint: `Check that the volume is mounted, or that the bucket is the same, and run the command again.${own}`,
      next: ['doctor'],
      facts: { ledger: place, ...(copies !== undefined && { copies }) },
    },
  );
}

/** The error for a cycle with two histories, both with claims: one in the ledger, one in this machine's copies. */
export class ForkedLedger extends SvcError {}

/**
 * Returns the error for an entry that differs from this machine's copy. No object of such a ledger may be put back or removed:
 * both histories name rows that may have been paid for. `jobs` are the jobs with claims in this machine's copies.
 */
export function forkedLedger(name: string, problem: string, jobs: readonly string[]): ForkedLedger {
  const [first] = jobs;
  const own =
    first === undefined
      ? ''
      : ' The jobs of the entries that only this machine has are named below: the command shows whether the service has the file of one, and svc au download <job> gets the tokens that were paid for with it.';
  return new ForkedLedger('config', `the ledger has two histories: ${name}: ${problem}; nothing was sent`, {
    hint: `It was restored from a backup and went on without claims that this machine read, or two copies of it are in use. Remove no entry, and restore nothing more. Send no more rows of this cycle, from any machine.${own} Then submit the rows that neither these jobs nor those of the cycle have, as a file of their own in another cycle.`,
    next: first === undefined ? ['au', 'status'] : ['au', 'status', first],
    facts: { object: name, ...(jobs.length > 0 && { jobs }) },
  });
}
