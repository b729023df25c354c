import { isSvcError, SvcError } from '../../base/errors.ts';
import { sha256Of } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { moment, type Moment } from '../../cli/app/moment.ts';
import type { Input } from '../../cli/app/parameter.ts';
import { isDrawn, recordPrinter } from '../../cli/app/print.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { isoTime, utcTime } from '../../cli/output/time.ts';
import { DAY_MS } from '../../schema/durations.ts';
import type { Log } from '../../schema/log.ts';
import { type ActorLabels, ActorNames, knownLabels } from '../actor.ts';
import { isWithin, type Manifest, readManifest } from '../archive/manifest.ts';
import { countEntries, openArchive, type Reading, readTimeless, timelessOf } from '../archive/open-archive.ts';
import type { Segment } from '../archive/records/record.ts';
import { DeletedEntities, type DeletedEntity, timelessWarnings } from './deleted.ts';
import { countFindings, foundText, hasFindings } from './findings.ts';
import { openPageFile, type PAGE_PARAMETERS } from './page.ts';
import type { Review, ReviewSignature } from './review-report.ts';
import { DayReview, failedRange, PAST_DAYS } from './review.ts';
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
  const day = input.day ?? moment('yesterday');
  const from = day(now);
  if (from > now) throw new SvcError('usage', 'the day to review is in the future', { hint: 'Choose an earlier day.' });
  const store = await openArchive(context, input.dir);
  const bounds = { since: from - PAST_DAYS * DAY_MS, until: from + DAY_MS };
  const manifest = await readManifest(store, bounds);
  const { coverage, first, segments, last } = manifest;
  const reviewed = new DayReview(from, coverage);
  const timeless = timelessOf(manifest.timeless, { from, to: from + DAY_MS });
  const reading = { dir: input.dir, label: 'review', store, segments, ...bounds };
  await countEntries(context, { ...reading, onGroup: (log, bucket) => reviewed.add(log, bucket) });
  const past = timelessOf(manifest.timeless, { from: bounds.since, to: from }).filter((one) => !timeless.includes(one));
  await readTimeless(context, { ...reading, segments: past }, (log) => reviewed.addTimeless(log, false));
  await readTimeless(context, { ...reading, segments: timeless }, (log) => reviewed.addTimeless(log, true));
  const findings = reviewed.findings();
  const content = {
    service: first.service,
    tenant_id: first.tenant_id,
    day: isoTime(from).slice(0, 10),
    ...findings,
    deleted: findings.deletions.length === 0 ? [] : await deletedOn(context, reading, { from, timeless }),
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

/** Reads the deletions of a day, whose entities the counts do not have. */
async function deletedOn(
  context: Context,
  reading: Reading,
  { from, timeless }: { readonly from: number; readonly timeless: readonly Segment[] },
): Promise<DeletedEntity[]> {
  const day = { since: from, until: from + DAY_MS };
  const segments = reading.segments.filter((segment) => isWithin(segment, day));
  const deleted = new DeletedEntities();
  const onGroup = (log: Log): void => deleted.add(log);
  await countEntries(context, { ...reading, ...day, segments, among: ['delete'], onGroup });
  await readTimeless(context, { ...reading, segments: timeless }, onGroup);
  return deleted.list();
}

/** Returns the signed reviews of a day; those of `sha256` are current. */
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

/** Opens what a review is written to, before anything is read. @throws SvcError `usage` */
async function openReviewOutput(context: Context, options: Input<typeof PAGE_PARAMETERS> & { readonly dir: string }) {
  const print = await recordPrinter(context, reviewView);
  const page = await openPageFile(context, options, options.dir);
  const drawn = async (review: Review): Promise<string> => {
    const [{ pageWords, reportPage }, { reviewReport }] = await loadReports();
    const labels = await knownLabels(context, review);
    return reportPage(reviewReport(review, pageWords(labels), { madeAt: context.clock.now() }));
  };
  return {
    /** Writes the page of `--html`. */
    async writePage(review: Review): Promise<void> {
      await page?.write(await drawn(review));
    },
    /** Writes the page of `--html` for a review that `sign` records, which resolves to whether something was recorded. */
    async signPage(review: Review, sign: (pageHash?: string) => Promise<boolean>): Promise<void> {
      await (page === undefined ? sign() : page.writeSigned(await drawn(review), sign));
    },
    async show(review: Review, isVerbose: boolean): Promise<void> {
      if (isDrawn(context)) {
        const [{ drawReport, terminalWords }, { reviewReport }] = await loadReports();
        const words = terminalWords(context, await labelsOf(context, review));
        const report = reviewReport(review, words, { madeAt: context.clock.now(), isVerbose });
        return context.out.write(await drawReport(context, report));
      }
      return this.print(review);
    },
    /** Prints the review for programs, with its warnings. A table leaves it out. */
    async print(review: Review): Promise<void> {
      if (isDrawn(context)) return;
      // Warnings go to stderr, which is all that a cron job mails.
      for (const { from, to, reason } of review.missing)
        context.notices.warn(`entries may be missing from ${from} to ${to}: ${reason}`);
      for (const words of timelessWarnings(review)) context.notices.warn(words);
      await print(review);
    },
  };
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

type DayOptions = ReviewedDay & Input<typeof PAGE_PARAMETERS> & Readonly<Record<'strict' | 'verbose', boolean>>;

/** Shows what to look at on a day. @throws SvcError `entries_missing` for an incomplete day, `threshold` for findings */
export async function reviewDay(context: Context, options: DayOptions): Promise<void> {
  const output = await openReviewOutput(context, options);
  const { review } = await makeReview(context, options);
  await output.writePage(review);
  await output.show(review, options.verbose);
  const { missing, day } = review;
  const now = context.clock.now();
  const range = options.strict ? missing[0] : failedRange(missing, Date.parse(day), now);
  if (range !== undefined) throw incompleteDay(review, range, now);
  if (hasFindings(review)) throw findingsFound(review, now, isDrawn(context));
}

type SignOffOptions = ReviewedDay &
  Input<typeof PAGE_PARAMETERS> &
  Pick<SignOffInput, 'note' | 'by'> & { readonly strict: boolean };

/** Reviews a day and records that. @throws SvcError `entries_missing` for a day that may still be archived */
export async function signOffDay(context: Context, options: SignOffOptions): Promise<void> {
  const output = await openReviewOutput(context, options);
  const made = await makeReview(context, options);
  const now = context.clock.now();
  const range = options.strict ? made.review.missing[0] : unsignable(made.review, now);
  let { review } = made;
  await output.signPage(review, async (pageHash) => {
    if (range !== undefined) return false;
    review = await signed(context, options, made, pageHash);
    return review !== made.review;
  });
  await output.print(review);
  if (range !== undefined) throw unsignedDay(review, range, now);
}

/** Signs a review, and returns it with the new signature; the review itself if the same one was recorded before. */
async function signed(
  context: Context,
  options: SignOffOptions,
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
  const missingMs = missing.reduce((sum, { from, to }) => sum + Date.parse(to) - Date.parse(from), 0);
  if (end > now) return { from: isoTime(now), to: isoTime(end), reason: 'the day is not over' };
  return missing.find(({ reason }) => reason === 'not archived yet') ?? (missingMs >= DAY_MS ? missing[0] : undefined);
}

/** The time that a day lacks, RFC 3339, and why. */
type LackingRange = Readonly<Record<'from' | 'to' | 'reason', string>>;

/** The error for a day that is not completely archived, so that it cannot be judged. */
function incompleteDay(review: Review, range: LackingRange, now: number): SvcError {
  return incomplete(review, range, '', range.reason === 'not archived yet' ? updating(review) : nextStep(review, now));
}

/** The error for a day that is not completely archived, so that it cannot be signed off. */
function unsignedDay(review: Review, range: LackingRange, now: number): SvcError {
  const isLate = range.reason === 'not archived yet' && endOf(review.day) <= now;
  return incomplete(review, range, 'nothing was signed off: ', isLate ? updating(review) : nextStep(review, now));
}

/** What to do about an error: a hint, and the words of a command. */
interface NextStep {
  readonly hint: string;
  readonly next: readonly string[];
}

function incomplete(review: Review, range: LackingRange, before: string, step: NextStep): SvcError {
  const { archive, day: date, missing, findings, findings_entries } = review;
  const { from, to, reason } = range;
  const words = `${archive} does not cover all of ${date}: nothing from ${utcTime(from)} to ${utcTime(to)} (${reason})`;
  const rest = hasFindings(review) ? `; findings to look at in the rest: ${foundText(review)}` : '';
  return new SvcError('entries_missing', `${before}${words}${rest}`, {
    ...step,
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
  const missingMs = missing.reduce((sum, { from, to }) => sum + Date.parse(to) - Date.parse(from), 0);
  return missingMs < DAY_MS
    ? {
        hint: 'No later run can add these entries. A sign-off records what is missing.',
        next: signOffOf(archive, date),
      }
    : {
        hint: 'No later run can add this day. The days of the archive:',
        next: ['logs', 'review', archive, '--status'],
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
  const found = isShown ? '' : `: ${foundText(review)}`;
  return new SvcError('threshold', `${date} has findings to look at${found}`, {
    hint: isSigned ? 'The day is signed off.' : unsigned,
    next: isShown
      ? ['logs', 'review', archive, '--day', date, '--verbose']
      : ['logs', 'search', archive, '--since', date, '--until', isoTime(endOf(date)).slice(0, 10)],
    alternatives: isSigned || !isOver ? [] : [signOffOf(archive, date)],
    facts: { findings, findings_entries },
  });
}
