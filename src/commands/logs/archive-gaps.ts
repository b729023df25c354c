import type { Coverage } from '../../archive/coverage.ts';
import type { Context } from '../../cli/context.ts';

interface Bounds {
  readonly since: number | undefined;
  readonly until: number | undefined;
}

const MOST_GAPS = 5;

/** Says of which parts of the stretch asked for the archive cannot tell. `newer`: how to have what is newer, if at all. */
export function tellGaps(
  { notices, clock }: Context,
  { coverage }: { readonly coverage: Coverage },
  { since = -Infinity, until = Infinity }: Bounds,
  newer: string | undefined,
): void {
  const gaps = coverage.gaps().filter(({ from, to }) => from < until && to > since);
  for (const { from, to } of gaps.slice(0, MOST_GAPS))
    notices.warn(`entries may be missing from ${iso(from)} to ${iso(to)}`);
  if (gaps.length > MOST_GAPS)
    notices.warn(`and in ${gaps.length - MOST_GAPS} further gaps: 'svc logs verify' lists them`);
  const covered = coverage.covered();
  const [begin, end] = [covered[0]?.from, covered.at(-1)?.to];
  if (begin === undefined || end === undefined) {
    notices.note('the archive covers no time yet');
    return;
  }
  if (since !== -Infinity && since < begin) notices.note(`the archive begins at ${iso(begin)}`);
  if (newer !== undefined && Math.min(until, clock.now()) > end)
    notices.note(`the archive ends at ${iso(end)}; ${newer}`);
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
