import { escapeHtml, htmlPage } from '../../cli/output/page.ts';
import { type PageColumn, pageTable } from '../../cli/output/page-table.ts';
import { countText, formatDuration, formatNumber } from '../../cli/output/time.ts';
import type { Access } from '../access/count-access.ts';
import { accessSummary, accessTable, USE_ONLY } from '../access/page.ts';
import type { Finding } from '../archive/chain.ts';
import type { EvidencePlan } from '../archive/evidence.ts';
import type { DropRecord } from '../archive/record.ts';
import type { TimeRange } from '../entry.ts';
import { findingsText, signatureText } from '../review/sign-off.ts';
import type { DayState, DayStatus } from '../review/status.ts';

/** What the page of a bundle shows in addition to the bundle's plan. */
export interface EvidenceFacts {
  readonly problems: readonly Finding[];
  readonly days: readonly DayStatus[];
  readonly access: Access;
}

/** Returns the page of an evidence bundle: a summary, then tables. The same archive and days give the same page. */
export function evidencePage(plan: EvidencePlan, facts: EvidenceFacts): string {
  const { from, to, last } = plan;
  const heading = `Audit logs of ${from} to ${to} (UTC)`;
  const summary = pageTable('Summary of this bundle', SUMMARY, summaryRows(plan, facts));
  const body = `${verdictText(facts)}
${summary}<p>${escapeHtml(USE_ONLY)}</p>
<p class="soft">From the archive as of record ${last.record.sequence}, written ${timeText(last.record.written_at)}. The hash of the bundle proves this page; <code>sh verify.sh</code> and README.md say how.</p>
${problemSection(facts.problems)}${coverageSection(plan)}${reviewSection(plan, facts.days)}<section class="long"><h2>Who used the service</h2>
${accessTable(facts.access)}</section>
${clockSection(plan)}`;
  return htmlPage({ title: `Evidence: ${heading}`, heading: `Evidence: ${heading}` }, body);
}

const SUMMARY: readonly PageColumn[] = [{ title: 'Subject' }, { title: 'Result' }];

function summaryRows(plan: EvidencePlan, { problems, days, access }: EvidenceFacts): string[][] {
  const { first, from, to, entries, segments, records, last, coverage, clocks } = plan;
  const gaps = coverage.gaps().filter((gap) => isWithin(gap, plan));
  const of = (state: DayState): string => formatNumber(days.filter((day) => day.state === state).length);
  const accessReviews = plan.reviews.filter((review) => review.of === 'access');
  return [
    ['Service', first.service],
    ['Tenant', first.tenant_id],
    ['Time', `${from} to ${to} (UTC), whole days`],
    ['Entries', `${formatNumber(entries)} in ${countText(segments.length, 'file')}, as the service sent them`],
    ['Chain', `${countText(records.length, 'record')}, the newest with the hash ${last.sha256}`],
    [
      'Verification',
      problems.length === 0
        ? 'nothing was changed, removed, reordered or added'
        : countText(problems.length, 'problem'),
    ],
    ['Gaps', gaps.length === 0 ? 'none' : `${countText(gaps.length, 'range')} in which entries may be missing`],
    ['Dropped by retention', coverage.drops.length === 0 ? 'nothing' : countText(coverage.drops.length, 'time')],
    ['Daily reviews', `${of('reviewed')} reviewed, ${of('open')} open, ${of('uncovered')} not in the archive`],
    ['Access reviews', accessReviews.length === 0 ? 'none signed' : `${formatNumber(accessReviews.length)} signed`],
    ['Access', accessSummary(access)],
    ['Clock', clockText(clocks.all().length)],
  ];
}

function clockText(differences: number): string {
  return differences === 0 ? 'within two seconds of the service' : 'differed from the service, see below';
}

function verdictText({ problems, days }: EvidenceFacts): string {
  const open = days.filter(({ state }) => state !== 'reviewed').length;
  if (problems.length > 0)
    return `<p class="odd"><strong>svc found ${countText(problems.length, 'problem')} in the archive when it made this bundle.</strong></p>`;
  return open === 0
    ? '<p class="fine">The archive was intact, and each of these days was reviewed.</p>'
    : `<p class="fine">The archive was intact.</p>\n<p class="odd">${countText(open, 'day')} without a signed review.</p>`;
}

function problemSection(problems: readonly Finding[]): string {
  if (problems.length === 0) return '';
  const columns = [{ title: 'File' }, { title: 'Problem' }, { title: 'What was found' }];
  const rows = problems.map(({ path, problem, message }) => [path, problem, message]);
  return section('Problems', pageTable('Problems in the archive', columns, rows));
}

function coverageSection(plan: EvidencePlan): string {
  const { coverage } = plan;
  const ranges = [
    ...coverage.covered().map(({ from, to }) => ({ from, to, what: 'covered' })),
    ...coverage.gaps().map(({ from, to }) => ({ from, to, what: 'gap, entries may be missing' })),
  ].filter((range) => isWithin(range, plan));
  const rows = ranges
    .toSorted((one, other) => one.from - other.from)
    .map(({ from, to, what }) => [timeText(isoOf(from)), timeText(isoOf(to)), formatDuration(to - from), what]);
  const columns = [{ title: 'From (UTC)' }, { title: 'Until (UTC)' }, { title: 'Length' }, { title: 'Coverage' }];
  return section('Coverage', `${pageTable('What the archive covers', columns, rows)}${dropTable(coverage.drops)}`);
}

function dropTable(drops: readonly DropRecord[]): string {
  if (drops.length === 0) return '<p>Retention dropped nothing.</p>\n';
  const columns = [
    { title: 'Before' },
    { title: 'Dropped at (UTC)' },
    { title: 'By' },
    { title: 'Entries', isNumber: true },
  ];
  const rows = drops.map(({ before, written_at: at, by, months }) => [
    before.slice(0, 10),
    timeText(at),
    by,
    formatNumber(months.reduce((sum, { entries }) => sum + entries, 0)),
  ]);
  return pageTable('What retention dropped', columns, rows);
}

const DAY_COLUMNS: readonly PageColumn[] = [
  { title: 'Day' },
  { title: 'State' },
  { title: 'Entries', isNumber: true },
  { title: 'Findings', isNumber: true },
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
  return section('Reviews', `${pageTable('Daily reviews', DAY_COLUMNS, days.map(dayCells))}${accessText}`);
}

function dayCells(status: DayStatus): string[] {
  const { day, state, entries, findings, signed_at: at, by, account, note, missing, late } = status;
  const words = [note ?? '', late > 0 ? `${countText(late, 'entry')} archived after the review` : '', ...missing];
  return [
    day,
    STATES[state],
    formatNumber(entries),
    findings === null ? '' : formatNumber(findings),
    at === null ? '' : timeText(at),
    by === account || account === null ? (by ?? '') : `${by ?? ''} (${account})`,
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
    `${timeText(from)} to ${timeText(to)}`,
  ]);
  return section('Clock of the archiving machine', pageTable('Differences of over two seconds', columns, rows));
}

function section(title: string, content: string): string {
  return `<section class="long"><h2>${escapeHtml(title)}</h2>\n${content}</section>\n`;
}

function isWithin({ from, to }: TimeRange, days: Pick<EvidencePlan, 'from' | 'to'>): boolean {
  return isoOf(to).slice(0, 10) >= days.from && isoOf(from).slice(0, 10) <= days.to;
}

function isoOf(at: number): string {
  return new Date(at).toISOString();
}

function timeText(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}
