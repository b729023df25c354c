// A review of access, as a report.

import { formatDuration } from '../../cli/output/time.ts';
import { countText, formatNumber } from '../../cli/output/number.ts';
import { wholeActorText } from '../actor.ts';
import { MAX_ACTORS, OTHERS } from '../count.ts';
import type { Sentence } from '../sentences.ts';
import type { Access } from './access.ts';
import { timelessText } from './deleted.ts';
import { type Report, reportTable, type Section } from './report.ts';
import { missingSentences, sourceText, subjectText } from './review-report.ts';
import { type AccessRow, accessView, actorOfRow } from './views.ts';

/** Returns the number of findings of each kind; null if it is unknown. */
export function accessFindings({ rows, hasPast, isFull }: Pick<Access, 'rows' | 'hasPast' | 'isFull'>) {
  return {
    actors: isFull ? null : rows.length,
    new_actors: hasPast && !isFull ? rows.filter(({ is_new: isNew }) => isNew).length : null,
    dormant: isFull ? null : rows.filter(({ is_dormant: isDormant }) => isDormant).length,
  };
}

/** What the logs do not show. */
export const SHOWS_USE_ONLY_TEXT =
  'The logs show who used the service, not who is permitted to: compare them with your list of users and keys.';

/** Returns how many actors there are, and how many of them are new or dormant. */
export function accessSummary(access: Access): string {
  if (access.isFull) return 'too many actors to count each; new and dormant ones unknown';
  const { new_actors: news, dormant } = accessFindings(access);
  const since = formatDuration(access.dormantMs);
  const newText =
    news === null ? 'new ones unknown (too little of the time before was read)' : `${formatNumber(news)} new`;
  return `${countText(access.rows.length, 'actor')}, ${newText}, ${formatNumber(dormant ?? 0)} dormant (nothing in the last ${since})`;
}

/** Returns the warnings of entries without a readable time, and of too many actors to count each. */
export function accessWarnings({ timeless, isFull }: Pick<Access, 'timeless' | 'isFull'>): string[] {
  return [
    ...(timeless.entries === 0 ? [] : [`counted, of an unknown day: ${timelessText(timeless)}`]),
    ...(isFull
      ? [`too many actors to count each: all after the first ${formatNumber(MAX_ACTORS)} are counted as ${OTHERS}`]
      : []),
  ];
}

/** Returns the actors of an access review with their whole ids, who changed and deleted most comes first. */
export function actorSection({ rows }: Pick<Access, 'rows'>): Section {
  if (rows.length === 0) return { heading: 'Actors', sentences: [['quiet', 'There is no entry.']] };
  const actor = {
    path: 'actor_id',
    header: 'actor',
    kind: 'text',
    show: (_: unknown, row: AccessRow) => actorOfRow(row, wholeActorText),
  } as const;
  return { heading: 'Actors', table: reportTable([actor, ...accessView.columns.slice(1)], rows) };
}

/** Returns an access review as a page. `madeAt` is in epoch milliseconds. */
export function accessReport(access: Access, madeAt: number): Report {
  return {
    title: `Access review of ${access.from} to ${access.to} (UTC)`,
    sentences: [
      subjectText(access),
      ...missingSentences(access.missing, 'the archive covers all of this time up to its end'),
      ...accessWarnings(access).map((text): Sentence => ['warn', text]),
      SHOWS_USE_ONLY_TEXT,
      accessSummary(access),
    ],
    source: [sourceText(access.archive, madeAt), `SHA-256 of what is reviewed here: ${access.sha256}`],
    sections: [actorSection(access)],
  };
}
