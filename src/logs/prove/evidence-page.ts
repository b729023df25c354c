// The page of an evidence bundle.

import { formatDuration, utcTime } from '../../cli/output/time.ts';
import { countText, formatNumber } from '../../cli/output/number.ts';
import { coverageText, sumOfMonths } from '../archive/archive-text.ts';
import type { Finding } from '../archive/records/chain.ts';
import type { TimeCoverage } from '../archive/records/coverage.ts';
import { dayOf } from '../archive/records/record.ts';
import type { EvidenceFacts } from './evidence-facts.ts';
import type { EvidencePlan } from './evidence.ts';
import { accessSummary, accessWarnings, actorSection, SHOWS_USE_ONLY_TEXT } from '../report/access-report.ts';
import { findingsText } from '../report/findings.ts';
import { type Section, reportPage, reportTable } from '../report/report.ts';
import { signatureText } from '../report/sign-off.ts';
import { type DayState, statusView } from '../report/views.ts';
import type { Sentence } from '../sentences.ts';
import { DAY_MS } from '../../schema/durations.ts';

/** Returns the page of an evidence bundle. The same archive and days give the same page. */
export function evidencePage(plan: EvidencePlan, facts: EvidenceFacts): string {
  const { record } = plan.last;
  return reportPage({
    title: `Evidence: Audit logs of ${daysText(plan)} (UTC)`,
    sentences: [
      ...verdicts(plan, facts),
      SHOWS_USE_ONLY_TEXT,
      ...accessWarnings(facts.access).map((text): Sentence => ['warn', text]),
    ],
    source: [
      `From the archive as of record ${record.sequence}, written ${utcTime(record.written_at)}. The hash of the bundle proves this page; sh verify.sh and README.md say how.`,
    ],
    sections: [
      textSection('Summary', ['Subject', 'Result'], summaryRows(plan, facts)),
      ...problemSections(facts.problems),
      coverageSection(plan),
      ...dropSections(plan),
      { heading: 'Daily reviews', table: reportTable(statusView.columns, facts.days) },
      accessReviewSection(plan),
      { ...actorSection(facts.access), heading: 'Who used the service' },
      ...clockSections(plan),
    ],
  });
}

/** Returns a section of texts under these headers. */
function textSection(heading: string, headers: readonly string[], rows: readonly (readonly string[])[]): Section {
  const columns = headers.map((header, at) => ({ path: String(at), header, kind: 'text' }) as const);
  return {
    heading,
    table: reportTable(
      columns,
      rows.map((cells) => Object.fromEntries(cells.entries())),
    ),
  };
}

function summaryRows(plan: EvidencePlan, { problems, days, dayCount, access }: EvidenceFacts): string[][] {
  const { first, entries, segments, records, last, requested, clocks } = plan;
  const countState = (state: DayState): number => days.filter((day) => day.state === state).length;
  const [reviewed, open] = [countState('reviewed'), countState('open')];
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
    ['Clock', clocks.all().length === 0 ? 'within two seconds of the service' : 'differed from the service, see below'],
  ];
}

/** Returns the requested days, including days that retention dropped. */
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

/** Returns the verdict, problems first. It is good only without problems, missing time and unreviewed days. */
function verdicts({ requested }: EvidencePlan, { problems, days, dayCount }: EvidenceFacts): Sentence[] {
  const open = dayCount - days.filter(({ state }) => state === 'reviewed').length;
  const found = `svc found ${countText(problems.length, 'problem')} in the archive when it made this bundle.`;
  const flaws = [
    ...(problems.length > 0 ? [found] : []),
    ...(requested.missing.length > 0 ? [`The archive covers only ${coverageText(requested)}.`] : []),
    ...(open > 0 ? [`${countText(open, 'day')} without a signed review.`] : []),
  ];
  const flawless =
    dayCount === 0 ? 'The archive was intact.' : 'The archive was intact, and each of these days was reviewed.';
  const verdict = flaws.length === 0 ? flawless : 'What the archive contains was intact.';
  return [
    ...flaws.map((text): Sentence => ['bad', text]),
    ...(problems.length === 0 ? [['good', verdict] satisfies Sentence] : []),
  ];
}

function problemSections(problems: readonly Finding[]): Section[] {
  const rows = problems.map(({ path, problem, message }) => [path, problem, message]);
  return rows.length === 0 ? [] : [textSection('Problems', ['File', 'Problem', 'What was found'], rows)];
}

function coverageSection({ requested }: EvidencePlan): Section {
  const rows = [
    ...requested.covered.map(({ from, to }) => ({ from, to, what: 'covered' })),
    ...requested.missing.map(({ from, to, reason }) => ({ from, to, what: `entries may be missing: ${reason}` })),
  ]
    .toSorted((one, other) => one.from - other.from)
    .map(({ from, to, what }) => [utcTime(from), utcTime(to), formatDuration(to - from), what]);
  const section = textSection('Coverage', ['From', 'Until', 'Length', 'Coverage'], rows);
  return { ...section, sentences: [`The archive covers ${coverageText(requested)}.`] };
}

function dropSections({ coverage: { drops } }: EvidencePlan): Section[] {
  const rows = drops.map(({ before, written_at: at, by, months }) => [
    before.slice(0, 10),
    months.map(({ month }) => month).join(', '),
    utcTime(at),
    by,
    formatNumber(sumOfMonths(months).entries),
  ]);
  const headers = ['Before', 'Months', 'Dropped at', 'By', 'Entries'];
  return rows.length === 0 ? [] : [textSection('Dropped by retention', headers, rows)];
}

function accessReviewSection({ reviews }: EvidencePlan): Section {
  const rows = reviews
    .filter(({ of }) => of === 'access')
    .map((review) => [`${review.from} to ${review.to}`, findingsText(review), `signed off ${signatureText(review)}`]);
  if (rows.length === 0) return { heading: 'Access reviews', sentences: ['No access review was signed.'] };
  return textSection('Access reviews', ['Days', 'Findings', 'Signature'], rows);
}

function clockSections({ clocks }: EvidencePlan): Section[] {
  const rows = clocks
    .all()
    .map(({ direction, mostMs, records, from, to }) => [
      `${direction} the service`,
      formatDuration(mostMs),
      formatNumber(records),
      `${utcTime(from)} to ${utcTime(to)}`,
    ]);
  const section = textSection('Clock of the archiving machine', ['Direction', 'Most', 'Records', 'Written'], rows);
  return rows.length === 0 ? [] : [{ ...section, sentences: ['Differences of over two seconds'] }];
}
