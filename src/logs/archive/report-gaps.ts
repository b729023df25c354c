import type { Context } from '../../cli/app/command.ts';
import { utcTime } from '../../cli/output/time.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { gapText } from '../sentences.ts';
import type { Coverage } from './records/coverage.ts';

const MAX_GAPS = 5;
const MOST_BEHIND_MS = 2 * DAY_MS;

/** Reports the parts of a range that the archive does not cover. `newer` says how to get newer entries, if there is a way. */
export function reportGaps(
  { notices, clock }: Context,
  { coverage }: { readonly coverage: Coverage },
  { since = -Infinity, until = Infinity }: { since?: number | undefined; until?: number | undefined },
  newer: string | undefined,
): void {
  const gaps = coverage.gaps().filter(({ from, to }) => from < until && to > since);
  for (const gap of gaps.slice(0, MAX_GAPS)) notices.warn(gapText(gap));
  if (gaps.length > MAX_GAPS) notices.warn(`and in ${gaps.length - MAX_GAPS} further gaps`);
  const covered = coverage.covered();
  const begin = covered[0]?.from;
  const end = covered.at(-1)?.to;
  if (begin === undefined || end === undefined) return notices.note('the archive covers no time yet');
  if (since !== -Infinity && since < begin)
    notices.note(
      `the archive begins at ${utcTime(begin)}${coverage.drops.length > 0 ? ' (older months were dropped by retention)' : ''}`,
    );
  const behindMs = Math.min(until, clock.now()) - end;
  if (newer === undefined || behindMs <= 0) return;
  const words = `the archive ends at ${utcTime(end)}; ${newer}`;
  // An archive that is updated every hour or day also ends before the present.
  if (behindMs > MOST_BEHIND_MS) notices.warn(words);
  else notices.note(words);
}
