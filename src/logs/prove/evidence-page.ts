import type { Context } from '../../cli/app/command.ts';
import { excelSafeRows } from '../../cli/output/csv.ts';
import { type PageColumn, pageTable, tableSection, timeCell } from '../../cli/output/page-table.ts';
import { escapeHtml, htmlPage, pageSection } from '../../cli/output/page.ts';
import { countText, formatDuration, formatNumber, isoTime, utcTime } from '../../cli/output/time.ts';
import type { Store } from '../../client/store/store.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { knownLabels } from '../actor.ts';
import { coverageText, signerText } from '../archive/archive-text.ts';
import type { Finding } from '../archive/records/chain.ts';
import type { TimeCoverage } from '../archive/records/coverage.ts';
import { dayOf } from '../archive/records/record.ts';
import { accessSummary, accessTable, timelessInRows, USE_ONLY } from '../report/access-page.ts';
import { type Access, countAccess } from '../report/access.ts';
import { findingsText, foundText } from '../report/findings.ts';
import { warningHtml } from '../report/page.ts';
import { untilDay } from '../report/review-rules.ts';
import { signatureText } from '../report/sign-off.ts';
import { statusOf } from '../report/status.ts';
import { ACCESS_FIELDS, type AccessRow, type DayState, type DayStatus } from '../report/views.ts';
import type { EvidencePlan } from './evidence.ts';

const DORMANT_MS = 90 * DAY_MS;

/** Collects what a bundle says of reviews and access. Actors have the names that svc knows; no record proves them. */
export async function evidenceFacts(
  context: Context,
  { store, dir }: { readonly store: Store; readonly dir: string },
  plan: EvidencePlan,
  problems: readonly Finding[],
): Promise<EvidenceFacts> {
  const { coverage, earlier, first, from, reviews, segments, to } = plan;
  // A damaged archive is not read beyond the days of the bundle.
  const known = problems.length === 0 ? [...earlier, ...segments] : segments;
  const days = {
    dir,
    from: Date.parse(from),
    to: untilDay(to),
    dormantMs: DORMANT_MS,
    timeless: segments.filter((segment) => segment.first === null),
    labels: await knownLabels(context, first),
  };
  const access = await countAccess(context, store, { coverage, first, segments: known }, days);
  const range = mentioned(plan);
  const statuses = range === undefined ? [] : statusOf({ coverage, segments, reviews }, range);
  const dayCount = Math.floor(plan.requested.to / DAY_MS) - plan.requested.from / DAY_MS;
  return { problems, days: statuses, dayCount, access };
}

/** Returns the requested time without what was before the archive, so that its days can be listed. */
function mentioned({ coverage, from, requested }: EvidencePlan) {
  const whole = coverage.whole();
  return whole === undefined ? undefined : { since: Math.max(Date.parse(from), whole.from), now: requested.to };
}

/** Returns the rows of an access review as CSV. */
export function accessCsv({ rows }: Access): string {
  const lines = rows.map((row) => ACCESS_FIELDS.map((name) => cellOf(row[name])));
  return excelSafeRows(ACCESS_FIELDS, [[...ACCESS_FIELDS], ...lines]);
}

function cellOf(value: AccessRow[keyof AccessRow]): string | number {
  if (value === null) return '';
  if (typeof value === 'object') return value.join(' ');
  return typeof value === 'boolean' ? String(value) : value;
}

/** What the page of a bundle shows in addition to the bundle's plan. */
export interface EvidenceFacts {
  readonly problems: readonly Finding[];
  /** The requested days that are over, except those before the archive, which are only counted. */
  readonly days: readonly DayStatus[];
  readonly dayCount: number;
  readonly access: Access;
}

/** Returns the page of an evidence bundle: a summary, then tables. The same archive and days give the same page. */
export function evidencePage(plan: EvidencePlan, facts: EvidenceFacts): string {
  const { last } = plan;
  const heading = `Audit logs of ${daysText(plan)} (UTC)`;
  const summary = pageTable('Summary of this bundle', SUMMARY, summaryRows(plan, facts));
  const body = `${verdictText(plan, facts)}
${summary}<p>${escapeHtml(USE_ONLY)}</p>
${timelessInRows(facts.access).map(warningHtml).join('')}<p class="soft">From the archive as of record ${last.record.sequence}, written ${timeCell(last.record.written_at)}. The hash of the bundle proves this page; <code>sh verify.sh</code> and README.md say how.</p>
${problemSection(facts.problems)}${coverageSection(plan)}${dropSection(plan)}${reviewSection(plan, facts.days)}${pageSection('Who used the service', accessTable(facts.access))}${clockSection(plan)}`;
  return htmlPage({ title: `Evidence: ${heading}`, heading: `Evidence: ${heading}` }, body);
}

const SUMMARY: readonly PageColumn[] = [{ title: 'Subject' }, { title: 'Result' }];

function summaryRows(plan: EvidencePlan, { problems, days, dayCount, access }: EvidenceFacts): string[][] {
  const { first, entries, segments, records, last, requested, clocks } = plan;
  const of = (state: DayState): number => days.filter((day) => day.state === state).length;
  const [reviewed, open] = [of('reviewed'), of('open')];
  const dayText = `${formatNumber(reviewed)} reviewed, ${formatNumber(open)} open, ${formatNumber(dayCount - reviewed - open)} not in the archive`;
  const accessReviews = plan.reviews.filter((review) => review.of === 'access');
  return [
    ['Service', first.service],
    ['Tenant', first.tenant_id],
    ['Time', timeSummary(plan)],
    ['Coverage', coverageSummary(requested)],
    ['Entries', `${formatNumber(entries)} in ${countText(segments.length, 'file')}, as the service sent them`],
    ['Chain', `${countText(records.length, 'record')}, the newest with the hash ${last.sha256}`],
    [
      'Verification',
      problems.length === 0
        ? 'nothing was changed, removed, reordered or added'
        : countText(problems.length, 'problem'),
    ],
    ['Dropped by retention', dropSummary(plan)],
    ['Daily reviews', dayText],
    ['Access reviews', accessReviews.length === 0 ? 'none signed' : `${formatNumber(accessReviews.length)} signed`],
    ['Access', accessSummary(access)],
    ['Clock', clockText(clocks.all().length)],
  ];
}

/** Returns the requested days, also those that retention dropped. */
function daysText({ requested }: EvidencePlan): string {
  return `${dayOf(requested.from)} to ${dayOf(requested.to - 1)}`;
}

function timeSummary(plan: EvidencePlan): string {
  const isOver = plan.requested.to % DAY_MS === 0;
  return `${daysText(plan)} (UTC), ${isOver ? 'whole days' : `the last day until ${utcTime(plan.requested.to)}`}`;
}

function coverageSummary(requested: TimeCoverage): string {
  const { missing } = requested;
  const rest = missing.length === 0 ? '' : `, entries may be missing in ${countText(missing.length, 'range')}`;
  return `${coverageText(requested)}${rest}`;
}

function dropSummary({ coverage: { drops } }: EvidencePlan): string {
  const months = drops.flatMap((drop) => drop.months.map(({ month }) => month));
  if (drops.length === 0) return 'nothing';
  return months.length === 0 ? 'months without entries' : `${countText(months.length, 'month')}: ${months.join(', ')}`;
}

function clockText(differences: number): string {
  return differences === 0 ? 'within two seconds of the service' : 'differed from the service, see below';
}

/** Returns the verdict: what is wrong first. Only a page without a problem, a missing time or an open day is all good. */
function verdictText({ requested }: EvidencePlan, { problems, days, dayCount }: EvidenceFacts): string {
  const open = dayCount - days.filter(({ state }) => state === 'reviewed').length;
  const found = `svc found ${countText(problems.length, 'problem')} in the archive when it made this bundle.`;
  const odd = [
    ...(problems.length > 0 ? [found] : []),
    ...(requested.missing.length > 0 ? [`The archive covers only ${coverageText(requested)}.`] : []),
    ...(open > 0 ? [`${countText(open, 'day')} without a signed review.`] : []),
  ];
  const all =
    dayCount === 0 ? 'The archive was intact.' : 'The archive was intact, and each of these days was reviewed.';
  const fine = odd.length === 0 ? all : 'What the archive contains was intact.';
  return [
    ...odd.map((words) => `<p class="odd"><strong>${escapeHtml(words)}</strong></p>`),
    ...(problems.length === 0 ? [`<p class="fine">${escapeHtml(fine)}</p>`] : []),
  ].join('\n');
}

function problemSection(problems: readonly Finding[]): string {
  if (problems.length === 0) return '';
  const columns = [{ title: 'File' }, { title: 'Problem' }, { title: 'What was found' }];
  const rows = problems.map(({ path, problem, message }) => [path, problem, message]);
  return tableSection('Problems', columns, rows);
}

function coverageSection({ requested }: EvidencePlan): string {
  const ranges = [
    ...requested.covered.map(({ from, to }) => ({ from, to, what: 'covered' })),
    ...requested.missing.map(({ from, to, reason }) => ({ from, to, what: `entries may be missing: ${reason}` })),
  ];
  const rows = ranges
    .toSorted((one, other) => one.from - other.from)
    .map(({ from, to, what }) => [timeCell(isoTime(from)), timeCell(isoTime(to)), formatDuration(to - from), what]);
  const columns = [{ title: 'From (UTC)' }, { title: 'Until (UTC)' }, { title: 'Length' }, { title: 'Coverage' }];
  const before = `<p>The archive covers ${coverageText(requested)}.</p>\n`;
  return tableSection('Coverage', columns, rows, { before });
}

function dropSection({ coverage: { drops } }: EvidencePlan): string {
  if (drops.length === 0) return '';
  const columns = [
    { title: 'Before' },
    { title: 'Months' },
    { title: 'Dropped at (UTC)' },
    { title: 'By' },
    { title: 'Entries', isNumber: true },
  ];
  const rows = drops.map(({ before, written_at: at, by, months }) => [
    before.slice(0, 10),
    months.map(({ month }) => month).join(', '),
    timeCell(at),
    by,
    formatNumber(months.reduce((sum, { entries }) => sum + entries, 0)),
  ]);
  return tableSection('Dropped by retention', columns, rows);
}

const DAY_COLUMNS: readonly PageColumn[] = [
  { title: 'Day' },
  { title: 'State' },
  { title: 'Entries', isNumber: true },
  { title: 'Findings' },
  { title: 'Signed off (UTC)' },
  { title: 'By' },
  { title: 'Note' },
];

function reviewSection({ reviews }: EvidencePlan, days: readonly DayStatus[]): string {
  const access = reviews.filter(({ of }) => of === 'access');
  const signed = access.map((review) => [
    `${review.from} to ${review.to}`,
    findingsText(review),
    `signed off ${signatureText(review)}`,
  ]);
  const columns = [{ title: 'Days' }, { title: 'Findings' }, { title: 'Signature' }];
  const accessText =
    signed.length === 0 ? '<p>No access review was signed.</p>\n' : pageTable('Access reviews', columns, signed);
  return pageSection('Reviews', `${pageTable('Daily reviews', DAY_COLUMNS, days.map(dayCells))}${accessText}`);
}

function dayCells(status: DayStatus): string[] {
  const { day, state, entries, findings, findings_entries, signed_at: at, by, account, note, missing, late } = status;
  const words = [note ?? '', late > 0 ? `${countText(late, 'entry')} archived after the review` : '', ...missing];
  return [
    day,
    STATES[state],
    formatNumber(entries),
    findings === null ? '' : foundText({ findings, findings_entries }),
    at === null ? '' : timeCell(at),
    by === null ? '' : signerText({ by, account: account ?? by }),
    words.filter((word) => word !== '').join('; '),
  ];
}

const STATES: Readonly<Record<DayState, string>> = {
  reviewed: 'reviewed',
  open: 'open',
  uncovered: 'not in the archive',
};

function clockSection({ clocks }: EvidencePlan): string {
  const found = clocks.all();
  if (found.length === 0) return '';
  const columns = [
    { title: 'Direction' },
    { title: 'Most' },
    { title: 'Records', isNumber: true },
    { title: 'Written (UTC)' },
  ];
  const rows = found.map(({ direction, mostMs, records, from, to }) => [
    `${direction} the service`,
    formatDuration(mostMs),
    formatNumber(records),
    `${timeCell(from)} to ${timeCell(to)}`,
  ]);
  return pageSection('Clock of the archiving machine', pageTable('Differences of over two seconds', columns, rows));
}
