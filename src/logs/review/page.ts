import { countText, formatNumber, utcTime } from '../../cli/output/time.ts';
import type { ActorLabels } from '../actor.ts';
import { archivePage } from '../archive/archive-page.ts';
import { signerText } from '../archive/signer-text.ts';
import type { Counts, DayCounts } from './count-findings.ts';
import { type DeletedEntity, timelessWarnings } from './deleted.ts';
import { REVIEW_PARTS } from './parts.ts';
import type { DayFindings } from './review.ts';
import { clockTime, deletedSection, rowSection } from './sections.ts';

/** The review of a day in an archive. */
export interface Review extends DayFindings, DayCounts {
  readonly archive: string;
  readonly service: string;
  readonly tenant_id: string;
  readonly day: string;
  /** The first thousand deletions of the day. */
  readonly deleted: readonly DeletedEntity[];
  /** The hash of everything about the day, which a signed review records. It does not depend on the location. */
  readonly sha256: string;
  readonly signed: readonly ReviewSignature[];
  /** The newest record of the archive, and its hash. */
  readonly record: number;
  readonly record_sha256: string;
}

/** A signed review of the day. */
export interface ReviewSignature {
  readonly record: number;
  readonly signed_at: string;
  readonly by: string;
  readonly account: string;
  readonly note: string | null;
  /** What was found, as it was recorded: groups and entries. */
  readonly findings: Counts;
  readonly findings_entries: Counts | null;
  /** The hash of the page that was written then. */
  readonly page_sha256: string | null;
  /** Whether what was signed is what the archive has now. */
  readonly is_current: boolean;
}

/** Returns the review as one self-contained page. `madeAt` is in epoch milliseconds. */
export function reviewPage(review: Review, labels: ActorLabels, madeAt: number): string {
  const parts = REVIEW_PARTS.map((part) => rowSection(part, review, { labels, timeOf: clockTime })).join('');
  const words = {
    title: `Log review of ${review.day}`,
    complete: 'The archive covers the whole day.',
    warnings: timelessWarnings(review),
    madeAt,
  };
  return archivePage(
    review,
    words,
    `${parts}${hourSection(review)}${deletedSection(review, { labels, timeOf: clockTime })}`,
  );
}

/** Returns who signed a review of the day, and whether the archive has changed since. */
export function signedText({ by, account, note, signed_at: at, is_current: isCurrent }: ReviewSignature): string {
  const words = `signed off by ${signerText({ by, account })} at ${utcTime(at)}${note === null ? '' : `: ${note}`}`;
  return isCurrent ? words : `${words}; the archive has other entries now`;
}

const HEIGHT = 140;

/** Returns a column chart of the hours, with the unusually busy hours in words. */
function hourSection({ hours, median, busy_hours: busy }: Review): string {
  const most = Math.max(1, ...hours);
  const loud = new Set(busy.map(({ hour }) => Number(hour.slice(11, 13))));
  const columns = hours.map((count, hour) => {
    const height = count === 0 ? 0 : Math.max(1, Math.round((count / most) * HEIGHT));
    const x = ((hour / 24) * 100).toFixed(2);
    const label = hour % 6 === 0 ? `<text x="${x}%" y="${HEIGHT + 18}">${String(hour).padStart(2, '0')}</text>` : '';
    return `<rect class="${loud.has(hour) ? 'warned' : 'unchanged'}" x="${x}%" y="${HEIGHT - height}" width="3.4%" height="${height}"/>${label}`;
  });
  const described = hours.map((count, hour) => `${String(hour).padStart(2, '0')}: ${formatNumber(count)}`).join('; ');
  const words = busy.map(({ hour, count }) => `<li>${utcTime(hour)}: ${countText(count, 'entry')}</li>`).join('');
  return `<section><h2>Entries by hour</h2>
<svg class="chart" role="img" aria-labelledby="hours-title hours-desc" width="100%" height="${HEIGHT + 24}">
<title id="hours-title">Entries by hour, UTC</title>
<desc id="hours-desc">${described}</desc>
${columns.join('\n')}</svg>
${words === '' ? '' : `<p>More than four times the median of ${formatNumber(median)}:</p><ul>${words}</ul>`}
</section>
`;
}
