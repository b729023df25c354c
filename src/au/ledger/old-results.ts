import { SvcError } from '../../base/errors.ts';
import { countText, formatDuration, parseTime } from '../../cli/output/time.ts';
import { refreshText, RETRY_MS } from '../run/find-run.ts';
import { byText, deliveryOf } from './claims.ts';
import type { DividedRows } from './divide-rows.ts';
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

/**
 * Checks that a file without a cycle, all of which other runs sent, was not sent long ago if its results were read: a green
 * exit on old results would be false each month. Only times of the service count, because the clock of the machine that
 * read the results may be wrong.
 * @throws SvcError `conflict`
 */
export function requireRecentResults(entries: readonly Entry[], { name, cycle, joined, words, now }: Submitted): void {
  const sent = joined.map(({ claim: { job, created_at: at } }) =>
    deliveryOf(entries, job) ? (parseTime(at) ?? now) : now,
  );
  const [first] = joined;
  const last = Math.max(...sent);
  if (first === undefined || now - last <= RETRY_MS) return;
  throw new SvcError(
    'conflict',
    `all rows of ${name} were sent ${formatDuration(now - last)} ago by ${byText(first.claim)} in ${countText(joined.length, 'job')}, whose results were read; nothing was submitted now`,
    {
      hint: `${refreshText(now)} These results again, without a bill:`,
      next: [...words, '--cycle', cycle, '--wait'],
      alternatives: [['au', 'download', first.claim.job]],
      facts: { jobs: joined.map(({ claim }) => claim.job), submitted_at: new Date(last).toISOString() },
    },
  );
}
