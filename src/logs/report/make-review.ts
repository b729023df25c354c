import { isSvcError, SvcError } from '../../base/errors.ts';
import { sha256Of } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { moment, type Moment } from '../../cli/app/moment.ts';
import type { Input } from '../../cli/app/parameter.ts';
import { isDrawn, recordPrinter } from '../../cli/app/print.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { isoTime, utcTime } from '../../cli/output/time.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { type ActorLabels, ActorNames, knownLabels } from '../actor.ts';
import { isWithin, type Manifest, readManifest } from '../archive/manifest.ts';
import { countEntries, openArchive, readTimeless, timelessOf } from '../archive/open-archive.ts';
import { DeletedEntities, timelessWarnings } from './deleted.ts';
import { countFindings, foundText, hasFindings } from './findings.ts';
import { openPage, type PAGE_PARAMETERS } from './page.ts';
import type { Review, ReviewSignature } from './review-report.ts';
import { DayReview, failedRange, isDayMissing, PAST_DAYS } from './review.ts';
import { signOff, type SignOffInput } from './sign-off.ts';
import { reviewView } from './views.ts';

/** The archive and the day to review: yesterday if none was typed. */
interface ReviewedDay {
  readonly dir: string;
  readonly day: Moment | undefined;
}

/** A review, and the archive that it was made from. */
interface MadeReview {
  readonly review: Review;
  readonly manifest: Manifest;
}

/** Reviews a day. @throws SvcError `usage` for a day in the future */
async function makeReview(context: Context, input: ReviewedDay): Promise<MadeReview> {
  const now = context.clock.now();
  const from = (input.day ?? moment('yesterday'))(now);
  if (from > now) throw new SvcError('usage', 'the day to review is in the future', { hint: 'Choose an earlier day.' });
  const store = await openArchive(context, input.dir);
  const bounds = { since: from - PAST_DAYS * DAY_MS, until: from + DAY_MS };
  const manifest = await readManifest(store, bounds);
  const { coverage, first, segments, last } = manifest;
  const reviewed = new DayReview(from, coverage);
  const day = { since: from, until: from + DAY_MS };
  const reading = { dir: input.dir, label: 'review', store, segments, ...bounds };
  await countEntries(context, { ...reading, onGroup: (log, bucket) => reviewed.add(log, bucket) });
  const deleted = new DeletedEntities();
  const ofDay = timelessOf(manifest.timeless, { from, to: day.until });
  const timeless = timelessOf(manifest.timeless, { from: bounds.since, to: day.until });
  await readTimeless(context, { ...reading, segments: timeless }, (log, segment) => {
    reviewed.addTimeless(log, ofDay.includes(segment));
    if (ofDay.includes(segment)) deleted.add(log);
  });
  const findings = reviewed.findings();
  // The counts do not have the entities.
  const own = { ...reading, ...day, segments: segments.filter((segment) => isWithin(segment, day)), among: ['delete'] };
  if (findings.deletions.length > 0) await countEntries(context, { ...own, onGroup: (log) => deleted.add(log) });
  const content = {
    service: first.service,
    tenant_id: first.tenant_id,
    day: isoTime(from).slice(0, 10),
    ...findings,
    deleted: deleted.list(),
  };
  // The hash has this member only where there are such entries.
  const hashed = { ...content, timeless: content.timeless === 0 ? undefined : content.timeless };
  const sha256 = sha256Of(JSON.stringify(hashed));
  const signatures = signaturesOf(manifest, content.day, sha256);
  const newest = { record: last.record.sequence, record_sha256: last.sha256 };
  return {
    review: { archive: store.name, ...content, ...countFindings(findings), sha256, signed: signatures, ...newest },
    manifest,
  };
}

/** Returns the signed reviews of a day. Reviews with the hash `sha256` are current. */
function signaturesOf({ reviews }: Manifest, date: string, sha256: string): ReviewSignature[] {
  return reviews
    .filter(({ of, from }) => of === 'day' && from === date)
    .map(
      ({ number, written_at, sha256: hash, note = null, page_sha256 = null, findings_entries = null, ...review }) => ({
        record: number,
        signed_at: written_at,
        by: review.by,
        account: review.account,
        note,
        findings: review.findings,
        findings_entries,
        page_sha256,
        is_current: hash === sha256,
      }),
    );
}

function loadReports() {
  return Promise.all([import('./report.ts'), import('./review-report.ts')]);
}

/** Draws a review as a page. */
async function drawPage(context: Context, review: Review): Promise<string> {
  const [{ pageWords, reportPage }, { reviewReport }] = await loadReports();
  const labels = await knownLabels(context, review);
  return reportPage(reviewReport(review, pageWords(labels), { madeAt: context.clock.now() }));
}

/** Draws a review for a terminal. */
async function drawn(context: Context, review: Review, isVerbose: boolean): Promise<string> {
  const [{ drawReport, terminalWords }, { reviewReport }] = await loadReports();
  const words = terminalWords(context, await labelsOf(context, review));
  return drawReport(context, reviewReport(review, words, { madeAt: context.clock.now(), isVerbose }));
}

/** Warns of what a review lacks, on stderr, which is all that a cron job mails. */
function warnOfMissing({ notices }: Context, review: Review): void {
  for (const { from, to, reason } of review.missing)
    notices.warn(`entries may be missing from ${from} to ${to}: ${reason}`);
  for (const words of timelessWarnings(review)) notices.warn(words);
}

/**
 * Returns the names of actors. A person at a terminal also gets those that were not read before, where this command line has
 * the service of the archive.
 */
async function labelsOf(context: Context, review: Review): Promise<ActorLabels> {
  const { service, tenant_id, deletions, changes, new_actors } = review;
  const actors = new ActorNames(context, service);
  actors.isOffline = !context.out.isTerminal || !isSameService(context, service);
  const rows = [...deletions, ...changes, ...(new_actors ?? [])];
  try {
    await actors.learn(rows.map(({ actor_id, actor_type }) => ({ actor_id, actor_type, tenant_id })));
  } catch (error) {
    // Without a key, an actor is shown by its id.
    if (!isSvcError(error)) throw error;
  }
  return actors.labelsOf(tenant_id);
}

function isSameService(context: Context, service: string): boolean {
  try {
    return serviceOf(context) === service;
  } catch {
    return false;
  }
}

type DayOptions = ReviewedDay &
  Input<typeof PAGE_PARAMETERS> &
  SignOffInput &
  Readonly<Record<'strict' | 'verbose', boolean>>;

/**
 * Shows what to look at on a day or, with --sign-off, records that somebody reviewed it.
 * @throws SvcError `entries_missing` for a day that is incomplete, or may still be archived; `threshold` for findings
 */
export async function reviewDay(context: Context, options: DayOptions): Promise<void> {
  const print = await recordPrinter(context, reviewView);
  const writePage = await openPage(context, options);
  const reading = await makeReview(context, options);
  const now = context.clock.now();
  const range = lackingRange(reading.review, options, now);
  let { review } = reading;
  const sign = async (pageHash?: string): Promise<boolean> => {
    if (range !== undefined) return false;
    review = await signed(context, options, reading, pageHash);
    return review !== reading.review;
  };
  await writePage(() => drawPage(context, reading.review), options.signOff ? sign : undefined);
  if (!isDrawn(context)) {
    warnOfMissing(context, review);
    await print(review);
  } else if (!options.signOff) await context.out.write(await drawn(context, review, options.verbose));
  if (range !== undefined) throw incomplete(review, range, options, now);
  if (!options.signOff && hasFindings(review)) throw findingsFound(review, now, isDrawn(context));
}

/** Returns a time that the day lacks, and because of which it cannot be judged or, with --sign-off, signed. */
function lackingRange(review: Review, { strict, signOff: isSigned }: DayOptions, now: number) {
  const { day: date, missing } = review;
  if (strict) return missing[0];
  return isSigned ? unsignable(review, now) : failedRange(missing, Date.parse(date), now);
}

/** Signs a review, and returns it with the new signature; the review itself if the same one was recorded before. */
async function signed(
  context: Context,
  options: DayOptions,
  { review: found, manifest }: MadeReview,
  pageHash: string | undefined,
): Promise<Review> {
  const { day: date, findings, findings_entries, sha256 } = found;
  const days = { of: 'day', from: date, to: date };
  const reviewed = { ...days, findings, findings_entries, sha256, page_sha256: pageHash };
  const { review, hash, earlier } = await signOff(context, options.dir, reviewed, { ...options, manifest });
  if (hash === undefined) return found;
  const reviews = [...earlier, review];
  const signatures = signaturesOf({ ...manifest, reviews }, date, sha256);
  return { ...found, signed: signatures, record: review.number, record_sha256: hash };
}

/** Returns the range that prevents a sign-off: one that may still be archived, or a whole day that is missing. A smaller gap is signed off as one. */
function unsignable({ day: date, missing }: Review, now: number) {
  const end = Date.parse(date) + DAY_MS;
  if (end > now) return { from: isoTime(now), to: isoTime(end), reason: 'the day is not over' };
  return (
    missing.find(({ reason }) => reason === 'not archived yet') ?? (isDayMissing(missing) ? missing[0] : undefined)
  );
}

/** The time that a day lacks, RFC 3339, and why. */
type LackingRange = Readonly<Record<'from' | 'to' | 'reason', string>>;

/** What to do about an error: a hint, and the words of a command. */
interface NextStep {
  readonly hint: string;
  readonly next: readonly string[];
}

/** The error for a day that is not completely archived, so that it cannot be judged, or signed off. */
function incomplete(review: Review, range: LackingRange, { signOff: isSigned }: DayOptions, now: number): SvcError {
  const { archive, day: date, missing, findings, findings_entries } = review;
  const { from, to, reason } = range;
  const before = isSigned ? 'nothing was signed off: ' : '';
  const words = `${archive} does not cover all of ${date}: nothing from ${utcTime(from)} to ${utcTime(to)} (${reason})`;
  const rest = hasFindings(review) ? `; findings to look at in the rest: ${foundText(review)}` : '';
  const canBeAdded = reason === 'not archived yet' && (!isSigned || endOf(date) <= now);
  return new SvcError('entries_missing', `${before}${words}${rest}`, {
    ...(canBeAdded ? updating(review) : nextStep(review, now)),
    facts: { missing, findings, findings_entries },
  });
}

function updating({ archive }: Review): NextStep {
  return { hint: 'Update the archive and review the day again.', next: ['logs', 'archive', archive] };
}

/** Returns what to do about a day that lacks entries now, and about one that can no longer get them. */
function nextStep({ archive, day: date, missing }: Review, now: number): NextStep {
  if (endOf(date) > now)
    return {
      hint: `Update the archive once the day is over, at ${endText(date)}, then sign it off.`,
      next: ['logs', 'archive', archive],
    };
  return isDayMissing(missing)
    ? { hint: 'No later run can add this day. The days of the archive:', next: ['logs', 'review', archive, '--status'] }
    : {
        hint: 'No later run can add these entries. A sign-off records what is missing.',
        next: signOffOf(archive, date),
      };
}

function endOf(date: string): number {
  return Date.parse(date) + DAY_MS;
}

function endText(date: string): string {
  return utcTime(isoTime(endOf(date)));
}

function signOffOf(archive: string, date: string): readonly string[] {
  return ['logs', 'review', archive, '--day', date, '--sign-off'];
}

/** The error for a day with findings, which `isShown` to a person. A day that is not over cannot be signed off. */
function findingsFound(review: Review, now: number, isShown: boolean): SvcError {
  const { archive, day: date, findings, findings_entries } = review;
  const isSigned = review.signed.some(({ is_current: isCurrent }) => isCurrent);
  const isOver = endOf(date) <= now;
  const unsigned = isOver
    ? 'Look at each, then sign the day off:'
    : `Look at each. The day can be signed off at ${endText(date)}.`;
  const counts = isShown ? '' : `: ${foundText(review)}`;
  return new SvcError('threshold', `${date} has findings to look at${counts}`, {
    hint: isSigned ? 'The day is signed off.' : unsigned,
    next: isShown
      ? ['logs', 'review', archive, '--day', date, '--verbose']
      : ['logs', 'search', archive, '--since', date, '--until', isoTime(endOf(date)).slice(0, 10)],
    alternatives: isSigned || !isOver ? [] : [signOffOf(archive, date)],
    facts: { findings, findings_entries },
  });
}
