import type { Context } from '../../cli/app/command.ts';
import { wrapWords } from '../../cli/output/text.ts';
import type { ActorLabels } from '../actor.ts';
import { type Part, REVIEW_PARTS } from '../review/parts.ts';
import { summaryLines } from '../review/summary-lines.ts';
import { partText } from './require-shift.ts';
import type { Shift } from './shift-counts.ts';

export const SHIFT_TITLE = 'Shift, read live';
/** The most actors that a table names. */
const MAX_ACTORS = 10;

/** Returns the parts of a shift. A filter, or a beginning that was not read, may leave entries out. */
export function shiftParts(shift: Shift, isFiltered: boolean): Part[] {
  const among = [...(isFiltered ? ['that match'] : []), ...(partText(shift) === undefined ? [] : ['that were read'])];
  const none = `none among the entries ${among.join(' and ')}`;
  const isShown = ([name]: Part): boolean =>
    name === 'deletions' || name === 'changes' || (name === 'new_actors' && shift.hasPast);
  return REVIEW_PARTS.filter(isShown).map(([name, heading, nothing]) => [
    name,
    heading,
    among.length === 0 ? nothing : none,
  ]);
}

/** Returns what a terminal shows of a shift before its counts: what was not read, then who deleted and changed what. */
export function shiftLines(
  context: Pick<Context, 'out' | 'palette' | 'unicode' | 'plain'>,
  shift: Shift,
  { labels, isFiltered }: { readonly labels: ActorLabels; readonly isFiltered: boolean },
): string[] {
  const part = partText(shift);
  const warning = part === undefined ? [] : wrapWords(part, context.out.width).map(context.palette.bad);
  const tables = shiftParts(shift, isFiltered).flatMap((one) =>
    [''].concat(summaryLines(context, shift.findings, labels, one, { actors: MAX_ACTORS, kinds: Infinity })),
  );
  return [...warning, ...tables];
}
