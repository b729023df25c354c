import { SvcError } from '../../base/errors.ts';
import { countText, formatDuration, parseTime } from '../../cli/output/time.ts';
import { RETRY_MS } from '../run/find-run.ts';
import { byText } from './claims.ts';
import type { DividedRows } from './divide-rows.ts';
import type { Entry } from './entry.ts';
import type { Taken } from './settle-claims.ts';

interface Submitted {
  readonly name: string;
  /** The jobs that have the rows. */
  readonly joined: readonly (Taken & { readonly file: DividedRows })[];
  /** The command that submits the file, as words. */
  readonly words: readonly string[];
  readonly now: number;
}

/**
 * Checks that the results of a file without a cycle, all of which other runs sent, were not read long ago: a green exit on
 * old results would be false each month.
 * @throws SvcError `conflict`
 */
export function requireRecentResults(entries: readonly Entry[], { name, joined, words, now }: Submitted): void {
  const ends = joined.map(({ claim }) => entries.find(({ kind, job }) => kind === 'done' && job === claim.job)?.at);
  const read = ends.map((at) => (at === undefined ? now : (parseTime(at) ?? now)));
  const [first] = joined;
  const last = Math.max(...read);
  if (first === undefined || now - last <= RETRY_MS) return;
  throw new SvcError(
    'conflict',
    `all rows of ${name} were sent ${formatDuration(Math.max(0, now - Date.parse(first.claim.at)))} ago by ${byText(first.claim)} in ${countText(joined.length, 'job')}, whose results were read; nothing was submitted now`,
    {
      hint: 'To refresh the same file regularly, name the cycle, in which all of its rows are billed again:',
      next: [...words, '--cycle', new Date(now).toISOString().slice(0, 7)],
      alternatives: [['au', 'download', first.claim.job]],
      facts: { jobs: joined.map(({ claim }) => claim.job), completed_at: new Date(last).toISOString() },
    },
  );
}
