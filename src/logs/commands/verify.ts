import { SvcError } from '../../base/errors.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { moment } from '../../cli/app/moment.ts';
import { flag, value } from '../../cli/app/parameter.ts';
import { isDrawn, listPrinter } from '../../cli/app/print.ts';
import { positiveDuration, sha256 } from '../../cli/app/value-parsers.ts';
import { formatDuration, isoTime, utcTime } from '../../cli/output/time.ts';
import { countText } from '../../cli/output/number.ts';
import type { Tone, View } from '../../cli/output/view.ts';
import type { Store } from '../../client/store/store.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { signerText, sumOfMonths } from '../archive/archive-text.ts';
import type { SignedReview } from '../archive/manifest.ts';
import { archiveLocation, openArchive, wholeMonths, withProgress } from '../archive/open-archive.ts';
import type { Finding } from '../archive/records/chain.ts';
import {
  type ClockDifference,
  type Coverage,
  isoMissing,
  isoRange,
  missingFrom,
  rangeOf,
  type MissingRange,
  type Requirement,
} from '../archive/records/coverage.ts';
import type { DropRecord } from '../archive/records/record.ts';
import type { Verified } from '../prove/verify.ts';
import { untilDay } from '../report/review-rules.ts';
import { rangeText, type Sentence, sentencesText, shownTime } from '../sentences.ts';

/** The default retention of the service. If the log was last read longer ago, entries may be lost. */
const DEFAULT_MAX_AGE_MS = DAY_MS;

const COUNTS = ['records', 'segments', 'entries', 'bytes', 'dropped'] as const;

const FIELDS = ['kind', 'problem', 'path', 'message', 'from', 'to', ...COUNTS, 'sha256'] as const;

const TONES: Readonly<Partial<Record<ArchiveCheckRow['kind'], Tone>>> = {
  missing: 'bad',
  finding: 'bad',
  undeleted: 'warn',
  covered: 'good',
  gap: 'warn',
  clock: 'warn',
};

/** Returns the view of the rows. A narrow table cuts the end of a message, so that what comes first is what matters most. */
function archiveCheckView(context: Context): View<ArchiveCheckRow> {
  const messageOf = ({ message, from, to, entries }: ArchiveCheckRow): string => {
    const words = `${message}${entries === null ? '' : `, ${countText(entries, 'entry')}`}`;
    if (from === null || to === null) return words;
    const range = rangeText(context, rangeOf(from, to));
    return entries === null ? `${words}: ${range}` : `${range}: ${words}`;
  };
  return {
    name: 'row of a verification',
    fields: FIELDS,
    columns: [
      { path: 'kind', kind: 'text', show: (kind, { problem }) => problem ?? kind, paint: (_, { kind }) => TONES[kind] },
      { path: 'path', kind: 'id', repeats: ({ path }) => path === null },
      { path: 'message', kind: 'text', show: (_, row) => messageOf(row) },
    ],
  };
}

export const verify = defineCommand({
  description:
    'Reads every byte. Prints each problem, the covered and uncovered time ranges, and the hash of the newest record. Keep that hash elsewhere: given with --expect, it proves later that nothing before it was removed or rewritten.',
  details:
    "Months that retention dropped since the record of --expect are problems, unless --keep allows them. --max-age and --covers find an archive that is intact but stopped, or too short. A run of 'svc logs archive' that finds nothing new counts: its record says how far the log was read. That time proves nothing against somebody who forges records.",
  examples: [
    ['svc logs verify ./audit', 'problems, coverage, gaps, counts and newest hash'],
    ['svc logs verify ./audit --expect "$(cat audit.sha256)"', 'check against a hash saved earlier'],
    [
      'svc logs verify ./audit --expect "$(cat audit.sha256)" --keep 13M',
      'the same, where retention keeps thirteen months',
    ],
    [
      'svc logs verify ./audit --manifest-only --max-age 2h',
      'for cron, every hour: exit code 14 when the archive stopped',
    ],
    ['svc logs verify ./audit --covers 365d', 'exit code 14 unless the last 365 days are archived without a gap'],
    ['svc logs verify ./audit --strict --quiet -o jsonl', 'for cron: exit code 12, or 14 with gaps'],
  ],
  exitCodes: [
    5,
    [12, 'something was changed, removed, reordered, truncated or added'],
    [14, 'gaps (with --strict), or --max-age or --covers is not met'],
  ],
  fields: FIELDS,
  parameters: {
    dir: archiveLocation,
    expect: value('--expect <sha256>', 'the archive must contain the record with this hash', sha256),
    keep: value('--keep <months>', 'accept that months older than this were dropped, such as 13M', wholeMonths),
    strict: flag('--strict', 'exit with 14 when entries may be missing'),
    maxAge: value(
      '--max-age <duration>',
      'exit with 14 when the archive was last updated longer ago, such as 2h',
      positiveDuration,
    ),
    covers: value(
      '--covers <time>',
      'exit with 14 unless all since then is archived: 365d, 2026-01-31 (sets --max-age to 24h)',
      moment,
    ),
    manifestOnly: flag('--manifest-only', 'check records, names and sizes only; read no log entries'),
  },
  async run(context, { dir, expect, keep, strict, maxAge, covers, manifestOnly }) {
    const requirement = requirementOf(context, maxAge, covers);
    const print = await listPrinter(context, archiveCheckView(context));
    const { commitWait, manifestOf, nothingVerified, verifyArchive } = await import('../prove/verify.ts');
    const store = await openArchive(context, dir);
    const manifest = await manifestOf(store);
    const verified = nothingVerified();
    const verification: Verification = { verified, findings: 0, drops: 0, requirement, missing: [], manifestOnly };
    const isForPeople = isDrawn(context);
    await withProgress(context, 'verify', async (onProgress) => {
      const options = { expect, keep, manifestOnly, signal: context.signal, commitWait: commitWait(context, store) };
      const findings = verifyArchive(store, { ...options, onProgress }, verified);
      await print(verificationRows(findings, manifest?.coverage, verification, isForPeople));
    });
    if (isForPeople) await context.out.write(summaryText(context, verification));
    if (verified.otherIndexes > 0) context.notices.warn(otherIndexText(store, verified));
    requireIntact(verification, store.name, strict);
  },
});

/** The result of a verification. */
interface Verification {
  readonly verified: Verified;
  findings: number;
  /** The number of findings about months that retention should not have dropped. */
  drops: number;
  readonly requirement: Requirement | undefined;
  /** The required ranges that the archive does not cover. */
  missing: readonly MissingRange[];
  readonly manifestOnly: boolean;
}

/** Reads --max-age and --covers. @throws SvcError `usage` for a time in the future */
function requirementOf(
  context: Context,
  maxAge: number | undefined,
  covers: ((now: number) => number) | undefined,
): Requirement | undefined {
  const now = context.clock.now();
  const since = covers?.(now);
  if (since !== undefined && since > now)
    throw new SvcError('usage', '--covers takes a time in the past', { hint: 'Such as 365d or 2026-01-31.' });
  if (maxAge === undefined && since === undefined) return undefined;
  return { now, maxAgeMs: maxAge ?? DEFAULT_MAX_AGE_MS, since };
}

/**
 * Yields the rows. What is required is compared with the coverage by the manifest before any segment is read or, if the
 * manifest is damaged, with that by the readable records at the end. `verified` is complete once all findings were read.
 */
async function* verificationRows(
  findings: AsyncIterable<readonly Finding[]>,
  coverage: Coverage | undefined,
  verification: Verification,
  isForPeople: boolean,
) {
  const { requirement, verified } = verification;
  const missingRows = (of: Coverage): ArchiveCheckRow[] => {
    if (requirement) verification.missing = missingFrom(of, requirement);
    return verification.missing.map(missingRow);
  };
  yield coverage ? missingRows(coverage) : [];
  for await (const found of findings) {
    verification.findings += found.length;
    verification.drops += found.filter(({ problem }) => problem === 'dropped').length;
    yield found.map(({ problem, path, message }) => checkRow('finding', message, { problem, path }));
  }
  const missing = coverage ? [] : missingRows(verified.contents.coverage);
  yield [...missing, ...summaryRows(verification, isForPeople)];
}

/** Sets the exit code. @throws SvcError `checksum_mismatch` for findings, `entries_missing` for uncovered ranges */
function requireIntact(verification: Verification, archive: string, strict: boolean): void {
  const { findings, drops, missing, manifestOnly, verified } = verification;
  const lacking = missing.map(isoMissing);
  const facts = { findings, ...(missing.length > 0 && { missing: lacking }) };
  if (findings > 0 && findings === drops)
    throw new SvcError('checksum_mismatch', `months of the archive at ${archive} were dropped`, {
      hint: 'If this was your retention, give its --keep here too, such as --keep 13M. Otherwise restore the files from a backup.',
      facts,
    });
  const intactBeside = manifestOnly ? 'No segment was read.' : 'Everything else is intact.';
  const unnamed = `the archive at ${archive} has ${countText(findings, 'file')} that no record names`;
  if (verified.leftovers > 0 && findings === verified.leftovers + verified.strays)
    throw new SvcError('checksum_mismatch', unnamed, {
      hint: `${intactBeside} A killed run left them, or a run is still writing; the next run adds what is in those that it left. If none ran, the newest record was removed: compare with --expect.`,
      next: ['logs', 'archive', archive],
      facts,
    });
  if (findings > 0 && findings === verified.strays)
    throw new SvcError('checksum_mismatch', unnamed, {
      hint: `${intactBeside} Move them out of the archive, and keep them until it is clear who wrote them; then verify again.`,
      next: ['logs', 'verify', archive],
      facts,
    });
  if (findings > 0)
    throw new SvcError('checksum_mismatch', `the archive at ${archive} is damaged: ${countText(findings, 'problem')}`, {
      hint: 'Restore these files from a backup, then verify again; treat what cannot be restored as lost or tampered with.',
      next: ['logs', 'verify', archive],
      facts,
    });
  const intact = manifestOnly ? 'The records are intact; no segment was read.' : 'What is archived is intact.';
  const [first, ...others] = missing;
  if (first !== undefined) {
    const more = others.length === 0 ? '' : `, and ${countText(others.length, 'other range')}`;
    throw new SvcError('entries_missing', `the archive at ${archive} ${lackText(first)}${more}`, {
      ...adviceOn(archive, missing, intact),
      facts: { missing: lacking },
    });
  }
  const gaps = verified.contents.coverage.gaps();
  if (strict && gaps.length > 0)
    throw new SvcError('entries_missing', `the archive at ${archive} has ${countText(gaps.length, 'gap')}`, {
      hint: `${intact} Archive the logs at least once within their retention.`,
      facts: { gaps: gaps.map(isoRange) },
    });
}

/** Returns what to do about ranges that are missing. Another run of the archive changes nothing about a wrong clock or a gap. */
function adviceOn(
  archive: string,
  missing: readonly MissingRange[],
  intact: string,
): { hint: string; next?: string[] } {
  if (missing[0] && isAfterNow(missing[0]))
    return { hint: `${intact} Correct the clock that is wrong.`, next: ['doctor'] };
  if (missing.some(({ reason }) => reason === 'not archived yet'))
    return {
      hint: `${intact} Find out why the archive was not updated, then update it; a gap stays one.`,
      next: ['logs', 'archive', archive],
    };
  return {
    hint: `${intact} No later run can add what is missing. Once that is explained, give --covers a later time.`,
  };
}

function missingRow({ reason, ...range }: MissingRange): ArchiveCheckRow {
  return checkRow('missing', reason, isoRange(range));
}

function summaryRows(verification: Verification, isForPeople: boolean): ArchiveCheckRow[] {
  const { contents, records, segments, entries, bytes, dropped, undeleted, sha256: newest } = verification.verified;
  const { clocks, coverage, reviews } = contents;
  const covered = coverage.covered().map(isoRange);
  const gaps = coverage.gaps().map(isoRange);
  const left = undeleted.map((path) => checkRow('undeleted', UNDELETED, { path }));
  const signed = reviews.map(reviewRow);
  const archiveRow = checkRow('archive', sizeText(verification), {
    from: covered[0]?.from ?? null,
    to: covered.at(-1)?.to ?? null,
    records,
    segments,
    entries,
    bytes,
    dropped,
    sha256: newest ?? null,
  });
  return [
    ...coverage.drops.map(dropRow),
    ...(isForPeople ? lastOf(left, 'file', 'such as this one') : left),
    ...(isForPeople ? lastOf(signed, 'signed review', 'the newest') : signed),
    ...covered.map((range) =>
      checkRow('covered', isReadWhole(verification) ? 'nothing is missing' : BY_RECORDS, range),
    ),
    ...gaps.map((range) => checkRow('gap', 'entries may be missing', range)),
    ...clocks.all().map(clockRow),
    // For a person, the whole archive is in the sentences below the table, which are never cut.
    ...(isForPeople ? [] : [archiveRow]),
  ];
}

/** Says how much the archive has. */
function sizeText(verification: Verification): string {
  const { entries, segments } = verification.verified;
  return `${countText(entries, 'entry')} in ${countText(segments, 'segment')}${unreadText(verification)}${droppedText(verification)}`;
}

/** Returns the last of several rows, whose message counts them all: a year has hundreds of signed reviews. */
function lastOf(rows: readonly ArchiveCheckRow[], noun: string, which: string): ArchiveCheckRow[] {
  const last = rows.at(-1);
  if (last === undefined || rows.length === 1) return [...rows];
  return [{ ...last, message: `${countText(rows.length, noun)}, ${which}: ${last.message}` }];
}

/** Tells whether this run read every entry that the records name, and found each as it was written. */
function isReadWhole({ findings, verified, manifestOnly }: Verification): boolean {
  return findings === verified.leftovers && !manifestOnly;
}

/** What the records alone prove, while files that they name were not read or have problems. */
const BY_RECORDS = 'covered according to the records';

function unreadText({ verified: { unread }, manifestOnly }: Verification): string {
  if (manifestOnly) return ' according to the records; no segment was read';
  return unread === 0 ? '' : `; ${countText(unread, 'entry')} not read, see the findings`;
}

function droppedText({ verified: { dropped } }: Verification): string {
  return dropped === 0 ? '' : `; retention dropped ${countText(dropped, 'entry')}`;
}

/** Says of a file that it was dropped, and not removed. */
const UNDELETED = 'retention dropped it, and it is still there; svc logs archive with --keep removes it';

function dropRow({ before, by, written_at: at, months }: DropRecord): ArchiveCheckRow {
  return checkRow('dropped', `dropped by retention, by ${by} at ${at}`, {
    from: `${months[0]?.month ?? before.slice(0, 7)}-01T00:00:00.000Z`,
    to: before,
    ...sumOfMonths(months),
  });
}

function clockRow({ direction, mostMs, from, to, records }: ClockDifference): ArchiveCheckRow {
  const words = `the clock of the archiving machine was up to ${formatDuration(mostMs)} ${direction} the service's in ${countText(records, 'record')}`;
  return checkRow('clock', words, { from, to, records });
}

function reviewRow({ of, from, to, by, account, note, entries, written_at: at }: SignedReview): ArchiveCheckRow {
  const words = `${of} reviewed, signed off by ${signerText({ by, account })} at ${at}`;
  return checkRow('review', note === undefined ? words : `${words}: ${note}`, {
    from: isoTime(Date.parse(from)),
    to: isoTime(untilDay(to)),
    entries,
  });
}

function summaryText(context: Context, verification: Verification): string {
  const { contents, shared, sha256: newest } = verification.verified;
  const { first } = contents;
  return `\n${sentencesText(context, [
    ...(first ? [`tenant ${first.tenant_id} of ${first.service}`] : []),
    sizeText(verification),
    ...(shared === 0 ? [] : [`${countText(shared, 'entry')} of other tenants, which share them`]),
    `newest hash: ${newest ?? 'none'}`,
    ...requirementSentences(context, verification),
    verdictOf(verification),
  ])}`;
}

function verdictOf(verification: Verification): Sentence {
  const { findings, manifestOnly, verified } = verification;
  const intact = manifestOnly
    ? 'records intact, and the files that they name are there with their sizes; no segment was read'
    : `archive intact: nothing changed, removed, reordered, truncated or added${droppedText(verification)}`;
  if (findings === 0) return ['good', intact];
  if (findings !== verified.leftovers) return ['bad', `archive damaged: ${countText(findings, 'problem')}`];
  const rest = manifestOnly ? intact : 'everything else is intact';
  return ['bad', `not named by a record: ${countText(findings, 'file')}; ${rest}`];
}

function otherIndexText({ isRemote }: Store, { otherIndexes }: Verified): string {
  // A search copies the index of a bucket into the cache.
  const copies = isRemote ? ' and the cache directory of each machine that searches it' : '';
  return `the index of ${countText(otherIndexes, 'segment')} does not fit the entries: search with --full, or remove _index/${copies}`;
}

function requirementSentences(context: Context, verification: Verification): Sentence[] {
  const { requirement, missing, findings, verified } = verification;
  if (requirement === undefined || missing.length > 0) return [];
  const { now, maxAgeMs, since } = requirement;
  const age = `the log was last read at most ${formatDuration(maxAgeMs)} before ${shownTime(context, now)}`;
  const basis = isReadWhole(verification) ? '' : 'according to the records, ';
  const text = since === undefined ? age : `everything since ${shownTime(context, since)} is archived; ${age}`;
  return [findings === verified.leftovers ? ['good', `${basis}${text}`] : `${basis}${text}`];
}

/** A row of a verification. All rows have the same members, null if they do not apply. The last row is the whole archive. */
interface ArchiveCheckRow
  extends
    Readonly<Record<'problem' | 'path' | 'from' | 'to' | 'sha256', string | null>>,
    Readonly<Record<(typeof COUNTS)[number], number | null>> {
  readonly kind: 'missing' | 'finding' | 'dropped' | 'undeleted' | 'review' | 'covered' | 'gap' | 'clock' | 'archive';
  readonly message: string;
}

const NO_VALUES = Object.fromEntries(FIELDS.map((name) => [name, null]));

function checkRow(kind: ArchiveCheckRow['kind'], message: string, more: Partial<ArchiveCheckRow> = {}) {
  return { ...NO_VALUES, kind, message, ...more } as ArchiveCheckRow;
}

function isAfterNow({ reason }: MissingRange): boolean {
  return reason === "after this machine's time";
}

function lackText(range: MissingRange): string {
  const { from, to, reason } = range;
  return isAfterNow(range)
    ? `ends at ${utcTime(to)}, after this machine's time: check the clock`
    : `lacks ${utcTime(from)} to ${utcTime(to)} (${reason})`;
}
