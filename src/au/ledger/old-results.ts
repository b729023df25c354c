import { SvcError } from '../../base/errors.ts';
import { countText, formatDuration, isoTime, parseTime } from '../../cli/output/time.ts';
import { LONGEST_JOB_MS } from '../../schema/account-updater-files.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { byText, deliveryOf } from './claims.ts';
import type { DividedRows } from '../request/rows-file.ts';
import type { Entry } from './entry.ts';
import type { Taken } from './settle-claims.ts';

interface Submitted {
  readonly name: string;
  /** The name of its cycle in the ledger. */
  readonly cycle: string;
  /** The jobs that have the rows. */
  readonly joined: readonly (Taken & { readonly file: DividedRows })[];
  /** The command that submits the file, as words. */
  readonly words: readonly string[];
  readonly now: number;
}

/** How long after its end a file without a cycle shows its results when it is submitted again. */
const RETRY_MS = 7 * DAY_MS;

/** Explains how to refresh a file regularly, without a command that would bill the whole file again in a new cycle. */
function refreshText(now: number): string {
  return `To refresh the same file regularly, name a cycle each time, such as --cycle ${new Date(now).toISOString().slice(0, 7)}: all of its rows are billed again in it.`;
}

/**
 * Checks that a file without a cycle, all of whose rows were sent before, was not sent long ago if its results were read: a green
 * exit on old results would be false each month. The clock of the machine that received the results may be wrong, so that
 * its time counts only within the time that the service takes.
 * @throws SvcError `conflict`
 */
export function requireRecentResults(entries: readonly Entry[], { name, cycle, joined, words, now }: Submitted): void {
  const times = joined.map(({ claim: { job, created_at: at } }) => {
    const delivery = deliveryOf(entries, job);
    const sent = parseTime(at);
    if (delivery === undefined || sent === undefined) return { sent: now, ended: now };
    const received = parseTime(delivery.at) ?? Infinity;
    return { sent, ended: Math.max(sent, Math.min(received, sent + LONGEST_JOB_MS)) };
  });
  const [first] = joined;
  if (first === undefined || times.some(({ ended }) => now - ended <= RETRY_MS)) return;
  const last = Math.max(...times.map(({ sent }) => sent));
  throw new SvcError(
    'conflict',
    `all rows of ${name} were sent ${formatDuration(now - last)} ago by ${byText(first.claim)} in ${countText(joined.length, 'job')}, whose results were read; nothing was submitted now`,
    {
      hint: `${refreshText(now)} These results again, without a bill:`,
      next: [...words, '--cycle', cycle, ...(words.includes('--wait') ? [] : ['--wait'])],
      alternatives: [['au', 'download', first.claim.job]],
      facts: { jobs: joined.map(({ claim }) => claim.job), submitted_at: isoTime(last) },
    },
  );
}
