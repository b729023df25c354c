// Refuses a new cycle or submission that would probably bill the rows of another one again.

import { SvcError } from '../../base/errors.ts';
import { formatDuration, isoTime, parseTime } from '../../cli/output/time.ts';
import { countText, fixedPercent } from '../../cli/output/number.ts';
import type { Client } from '../../client/api/client.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { senderName, deliveryOf, wereResultsRead, standingClaims } from '../ledger/claims.ts';
import type { ClaimEntry, Entry } from '../ledger/entry.ts';
import { findJob } from '../job/job.ts';
import type { JobFiles } from '../job/job-files.ts';
import { isFileCycle } from '../ledger/cycle-names.ts';
import { fileCycles, unknownRowsCycle } from '../ledger/earlier-keys.ts';
import type { FileRows } from '../ledger/request-rows.ts';
import type { LedgerCycle } from '../ledger/cycle.ts';
import { ForkedLedger } from '../ledger/damage.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { MAX_JOB_MS } from '../../schema/account-updater-files.ts';
import type { DividedRows } from '../request/rows-file.ts';
import type { SettledClaim } from '../ledger/claims.ts';

/** How many of the newest cycles a new cycle is compared with. */
const MAX_COMPARED_CYCLES = 40;

/** A file that shares more of its rows than this with a cycle counts as the file of that cycle. */
const SAME_FILE_SHARE = 0.1;

/** The age below which a cycle is probably this month's: the next monthly cycle begins about four weeks later. */
const YOUNG_CYCLE_MS = 14 * DAY_MS;

/** Another cycle, compared with the rows of a file. */
export interface OtherCycle {
  readonly name: string;
  /** The number of its entries. */
  readonly entries: number;
  /** When its first job was created, in epoch milliseconds. */
  readonly began: number;
  /** When its last job was created, in epoch milliseconds. */
  readonly lastSent: number;
  /** The jobs whose results nobody has read. */
  readonly openJobs: readonly string[];
  /** The number of rows that the file and the cycle share. */
  readonly shared: number;
  /** The number of rows of the cycle; undefined if the rows of a job are unknown. */
  readonly rows: number | undefined;
  /** Whether the same file was submitted without a name for its cycle, which made this cycle. */
  readonly isSameFile: boolean;
}

/**
 * Compares a file with the newest cycles except its own, and returns these cycles, newest first. A claim whose rows are
 * unknown is compared by the hash of its file.
 */
export async function otherCycles(
  ledger: Ledger,
  ownCycle: string,
  rows: FileRows,
  sha256: string,
): Promise<readonly OtherCycle[]> {
  const ownNames = new Set([...(await fileCycles(ledger, rows)), unknownRowsCycle(sha256)]);
  const begun: { readonly cycle: LedgerCycle; readonly entries: readonly Entry[]; readonly began: number }[] = [];
  for (const name of await ledger.cycleNames()) {
    const cycle = ledger.cycle(name);
    const entries = await readUnlessForked(cycle);
    const [first] = standingClaims(entries);
    if (first && cycle !== ledger.cycle(ownCycle))
      begun.push({ cycle, entries, began: parseTime(first.created_at) ?? 0 });
  }
  const newest = begun.toSorted((one, other) => other.began - one.began).slice(0, MAX_COMPARED_CYCLES);
  return Promise.all(
    newest.map(async ({ cycle, entries, began }) => {
      const { name } = cycle;
      const claims = standingClaims(entries);
      const shared = await countSharedRows(cycle, claims, rows, sha256);
      const isKnown = claims.every(({ row_set: set }) => set !== null);
      const rowsOfCycle = isKnown ? claims.reduce((sum, claim) => sum + claim.rows, 0) : undefined;
      const unread = claims.map(({ job }) => job).filter((job) => !wereResultsRead(entries, job));
      const lastSent = Math.max(...claims.map(({ created_at: at }) => parseTime(at) ?? Infinity));
      const isSameFile = ownNames.has(name);
      return {
        name,
        entries: entries.length,
        began,
        lastSent,
        shared,
        rows: rowsOfCycle,
        openJobs: unread,
        isSameFile,
      };
    }),
  );
}

/** Reads a cycle. A forked cycle counts as empty: its error tells the operator to send missing rows in a new cycle. */
async function readUnlessForked(cycle: LedgerCycle): Promise<readonly Entry[]> {
  try {
    return [...(await cycle.read())];
  } catch (error) {
    if (error instanceof ForkedLedger) return [];
    throw error;
  }
}

async function countSharedRows(
  cycle: LedgerCycle,
  claims: readonly ClaimEntry[],
  rows: FileRows,
  sha256: string,
): Promise<number> {
  let shared = 0;
  for (const claim of claims)
    if (claim.row_set !== null) shared += await rows.countShared(await cycle.rowSetOf(claim));
    else if (claim.file.sha256 === sha256) shared += claim.rows;
  return Math.min(shared, rows.size);
}

/** The command that begins a cycle, as words. */
interface NewCycle {
  readonly name: string;
  /** The number of rows in the file. */
  readonly rows: number;
  /** The cycle as the operator named it; undefined for a file without a cycle. */
  readonly cycle: string | undefined;
  readonly words: readonly string[];
  /** The command that submits the file, if `words` is another command. */
  readonly submit?: readonly string[] | undefined;
  readonly now: number;
  /** Whether the service is the embedded sandbox, whose clock can be moved to another month. */
  readonly isSandbox?: boolean;
}

/** Compares claimed rows with the cycles that got entries since an earlier comparison. @throws as `refuseRowsOfOtherCycle` */
export type CompareAgain = () => Promise<void>;

/**
 * Refuses the rows of other cycles, and returns a second comparison to run after the claim: while the operator is asked, another
 * command may claim the same rows for its cycle. Of two commands that claim them at once, at least one then finds the
 * claim of the other.
 * @throws SvcError as `refuseRowsOfOtherCycle`
 */
export async function refuseRowsOfOthers(
  client: Client | undefined,
  others: readonly OtherCycle[],
  readOthers: () => Promise<readonly OtherCycle[]>,
  beginning: NewCycle,
): Promise<CompareAgain> {
  await refuseRowsOfOtherCycle(client, others, beginning);
  const seen = new Map(others.map(({ name, entries }) => [name, entries]));
  return async () => {
    const grown = (await readOthers()).filter(({ name, entries }) => entries > (seen.get(name) ?? 0));
    await refuseRowsOfOtherCycle(client, grown, beginning);
  };
}

/** Runs the second comparison for a claimed job that has no file yet. If it fails, ends the claim and removes the job's files. */
export async function compareClaimed(cycle: LedgerCycle, files: JobFiles, compareAgain: CompareAgain): Promise<void> {
  try {
    await compareAgain();
  } catch (error) {
    const proof = 'nothing was sent: other jobs may have got its rows at the same time';
    await cycle.endClaim({ kind: 'release', job: files.job, why: 'refused', proof });
    files.remove();
    throw error;
  }
}

/**
 * Refuses to begin a cycle with the rows of another open or young cycle, which would probably bill them twice by mistake.
 * @throws SvcError `pending` if the service reports a job of the other cycle as under way, else `conflict`
 */
export async function refuseRowsOfOtherCycle(
  client: Client | undefined,
  others: readonly OtherCycle[],
  { name, rows, cycle, words, submit = words, now, isSandbox = false }: NewCycle,
): Promise<void> {
  const other = currentCycles(others, now).find(({ shared }) => shared > rows * SAME_FILE_SHARE);
  if (other === undefined) return;
  const isOpen = other.openJobs.length > 0;
  const status = client && isOpen ? await openJobStatus(client, other.openJobs) : undefined;
  const share = `${countText(other.shared, 'row')} of ${name} (${fixedPercent(other.shared / rows)})`;
  const age = Math.max(0, now - other.began);
  const unread = status === undefined ? ' and whose results nobody has read' : ' and is not completed';
  const began = `which began ${formatDuration(age)} ago${isOpen ? unread : ''}`;
  const isFile = isFileCycle(other.name);
  const where = placeOf(other);
  const goOn = other.isSameFile ? submit : [...submit, '--cycle', other.name];
  const read = ['au', 'resume', other.name, ...(isOpen ? ['--wait'] : [])];
  const it = isFile ? 'that submission' : where;
  // An old cycle whose jobs ended must not get the rows of a later month.
  const isOnlyRead = isOpen && status === undefined && age >= YOUNG_CYCLE_MS;
  // A completed file without a cycle has nothing left to send, and may be refused.
  const [next, ...later] = isOnlyRead || (other.isSameFile && !isOpen) ? [read] : isOpen ? [goOn, read] : [goOn];
  const does = next === read ? `gets the results of ${it}` : `continues ${it}`;
  const also = later.length > 0 ? ', and the second gets its results' : '';
  const then = isOnlyRead
    ? ' They may have new tokens and closed accounts of these rows. Then run the same command again.'
    : '';
  const again = cycle === undefined ? [] : ['--cycle', cycle];
  const isNextMonth = isSandbox && !isOpen && !isFile;
  const month = isNextMonth ? ' To try the next month, move the clock of the sandbox first, by the last one.' : '';
  throw new SvcError(
    status === undefined ? 'conflict' : 'pending',
    `${share} ${other.shared === 1 ? 'is' : 'are'} in ${where} too, ${began}; nothing was submitted`,
    {
      hint: `The first of these commands ${does}${also}.${then} The ${later.length > 0 ? 'third' : 'second'} sends all rows of ${name} again${cycle === undefined ? '' : ` in cycle ${cycle}`}, and all of them are billed again.${month}`,
      next,
      alternatives: [
        ...later,
        [...words, ...again, '--pay-again'],
        ...(isNextMonth ? [['sandbox', 'clock', '+31d']] : []),
      ],
      facts: { other_cycle: other.name, shared_rows: other.shared, ...(status && { job_status: status }) },
    },
  );
}

/** Returns the cycles that are open or young, so that a row of them is probably meant to be billed once. */
function currentCycles(others: readonly OtherCycle[], now: number): OtherCycle[] {
  return others.filter(({ openJobs, began }) => openJobs.length > 0 || now - began < YOUNG_CYCLE_MS);
}

function placeOf({ name }: OtherCycle): string {
  return isFileCycle(name) ? 'a submission without a cycle' : `cycle ${name}`;
}

/** Returns a warning of a few rows that are in an open or young cycle too, and are billed again; undefined without such rows. */
export function billedAgainText(name: string, others: readonly OtherCycle[], now: number): string | undefined {
  const other = currentCycles(others, now).find(({ shared }) => shared > 0);
  if (other === undefined) return undefined;
  const { shared, began } = other;
  const age = formatDuration(Math.max(0, now - began));
  return `${countText(shared, 'row')} of ${name} ${shared === 1 ? 'is' : 'are'} in ${placeOf(other)} too, which began ${age} ago, and ${shared === 1 ? 'is' : 'are'} billed again`;
}

/** Returns the status of the first job that is under way; undefined if none is. */
async function openJobStatus(client: Client, jobs: readonly string[]): Promise<string | undefined> {
  for (const job of jobs) {
    const status = (await findJob(client, job))?.status;
    if (status !== undefined && status !== 'completed' && status !== 'failed') return status;
  }
  return undefined;
}

interface SubmittedBefore {
  readonly name: string;
  /** The name of the file's cycle in the ledger. */
  readonly cycle: string;
  /** The jobs with the rows of the file. */
  readonly joined: readonly (SettledClaim & { readonly file: DividedRows })[];
  /** The command that submits the file, as words. */
  readonly words: readonly string[];
  readonly now: number;
}

/** How long after the end of its jobs a file without a cycle may be submitted again to get the same results. */
const RECENT_MS = 7 * DAY_MS;

/** Explains how to refresh a file regularly, without a command that would bill the whole file again in a new cycle. */
function refreshText(now: number): string {
  return `To refresh the same file regularly, name a cycle each time, such as --cycle ${new Date(now).toISOString().slice(0, 7)}: all of its rows are billed again in it.`;
}

/**
 * Refuses a file without a cycle whose results were read long ago. A monthly cron job would otherwise end with 0 on the
 * results of the first month. The time of delivery counts only within the longest time that a job takes, because the clock
 * of the machine that received the results may be wrong.
 * @throws SvcError `conflict`
 */
export function refuseOldResults(
  entries: readonly Entry[],
  { name, cycle, joined, words, now }: SubmittedBefore,
): void {
  const times = joined.map(({ claim: { job, created_at: at } }) => {
    const delivery = deliveryOf(entries, job);
    const sent = parseTime(at);
    if (delivery === undefined || sent === undefined) return { sent: now, ended: now };
    const received = parseTime(delivery.at) ?? Infinity;
    return { sent, ended: Math.max(sent, Math.min(received, sent + MAX_JOB_MS)) };
  });
  const [first] = joined;
  if (first === undefined || times.some(({ ended }) => now - ended <= RECENT_MS)) return;
  const last = Math.max(...times.map(({ sent }) => sent));
  throw new SvcError(
    'conflict',
    `all rows of ${name} were sent ${formatDuration(now - last)} ago by ${senderName(first.claim)} in ${countText(joined.length, 'job')}, whose results were read; nothing was submitted now`,
    {
      hint: `${refreshText(now)} These results again, without a bill:`,
      next: [...words, '--cycle', cycle, ...(words.includes('--wait') ? [] : ['--wait'])],
      alternatives: [['au', 'download', first.claim.job]],
      facts: { jobs: joined.map(({ claim }) => claim.job), submitted_at: isoTime(last) },
    },
  );
}
