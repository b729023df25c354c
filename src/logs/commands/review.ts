import { SvcError } from '../../base/errors.ts';
import { sha256Of, writeWhole } from '../../base/files/draft.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { flag, type Input, value } from '../../cli/app/parameter.ts';
import { isDrawn, listPrinter, oneBatch, recordPrinter } from '../../cli/app/print.ts';
import { requireFile, resolvePath } from '../../cli/app/typed-path.ts';
import { duration, moment, text } from '../../cli/app/value-parsers.ts';
import { countText, formatDuration, isoTime } from '../../cli/output/time.ts';
import { simpleColumns, type View } from '../../cli/output/view.ts';
import type { Log } from '../../schema/log.ts';
import type { ActorLabels } from '../actor.ts';
import type { Manifest } from '../archive/manifest.ts';
import type { IndexRef } from '../archive/index/ref.ts';
import { archiveLocation, countEntries, openArchive } from '../archive/open-archive.ts';
import type { Segment } from '../archive/record.ts';
import type { ArchiveStore } from '../archive/store.ts';
import type { DeletedEntity } from '../review/deleted.ts';
import type { Review, ReviewSignature } from '../review/page.ts';
import type { DayFindings } from '../review/review.ts';
import { checkSignOff, SIGN_OFF_PARAMETERS, signOff } from '../review/sign-off.ts';
import type { DayState, DayStatus } from '../review/status.ts';

const DAY_MS = 86_400_000;
const STATUS_DAYS = 90;

const parameters = {
  dir: archiveLocation,
  day: value('--day <date>', 'the day to review, UTC: yesterday (the default), today or 2026-01-31', day),
  html: value('--html <file>', 'also write the review as one page', text),
  force: flag('--force', 'replace a file that exists'),
  strict: flag('--strict', 'also exit with 14 for hours before the archive begins, or in the future'),
  ...SIGN_OFF_PARAMETERS,
  status: flag('--status', 'list the days that were reviewed, are open, or are not in the archive'),
  since: value('--since <time>', 'with --status: the first day (default 90d, or where the archive begins)', moment),
  within: value(
    '--within <duration>',
    'with --status: exit with 10 when a day is open for longer, such as 3d',
    duration,
  ),
} as const;

type ReviewInput = Input<typeof parameters>;

function day(typed: string): (now: number) => number {
  if (typed === 'today') return (now) => Math.floor(now / DAY_MS) * DAY_MS;
  if (typed === 'yesterday' || /^\d{4}-\d\d-\d\d$/.test(typed)) return moment(typed);
  throw new SvcError('usage', 'must be a day: yesterday, today or a date such as 2026-01-31');
}

const reviewView: View<Review> = {
  name: 'review',
  fields: [
    'archive',
    'service',
    'tenant_id',
    'day',
    'entries',
    'missing',
    'past_days',
    'deletions',
    'deleted',
    'changes',
    'new_actors',
    'new_operations',
    'hours',
    'median',
    'busy_hours',
    'sha256',
    'signed',
    'record',
    'record_sha256',
  ],
  columns: simpleColumns({ day: 'id', entries: 'number' }),
};

const STATE_TONES = { reviewed: 'good', open: 'warn', uncovered: 'bad' } as const satisfies Record<DayState, string>;

const statusView: View<DayStatus> = {
  name: 'day of an archive',
  fields: [
    'day',
    'state',
    'entries',
    'late',
    'missing',
    'reviews',
    'signed_at',
    'by',
    'account',
    'note',
    'findings',
    'record',
  ],
  columns: [
    { path: 'day', kind: 'id' },
    { path: 'state', kind: 'status', paint: (_, { state }) => STATE_TONES[state] },
    { path: 'entries', kind: 'number', priority: 4 },
    { path: 'findings', kind: 'number', priority: 3 },
    { path: 'signed_at', header: 'signed', kind: 'time', priority: 5 },
    { path: 'by', kind: 'text', priority: 6 },
    { path: 'note', kind: 'text', priority: 2, show: (_, row) => noteText(row) },
  ],
};

function noteText({ note, late, missing }: DayStatus): string | null {
  const words = [
    ...(note === null ? [] : [note]),
    ...(late === 0 ? [] : [`${countText(late, 'entry')} archived after the review`]),
    ...missing,
  ];
  return words.length === 0 ? null : words.join('; ');
}

export const review = defineCommand({
  description:
    'Shows what somebody should look at each day: deletions and what was deleted; changes of applications, keys and the tenant; actors and operations that are new compared with the 30 days before; and hours with more than four times the median of the day. --sign-off records in the archive that you reviewed a day that is over and archived.',
  details:
    'It counts the documented fields of the entries and never reads their messages. Nothing is called new if the archive covers less than 7 of the 30 days before. With --sign-off, findings do not change the exit code, and verify reports any change of the record. Only a hash that you keep somewhere else proves later that the newest record was not removed.',
  examples: [
    ['svc logs review audit', 'yesterday (UTC)'],
    ['svc logs review audit --day 2026-01-31 --html review.html', 'a day as a page, to print or to file'],
    ['svc logs review audit --sign-off --note SEC-41', 'record that you reviewed yesterday'],
    ['svc logs review audit --status --within 3d', 'which days nobody has reviewed; exit code 10 after three days'],
    ['svc logs review audit --quiet -o json > review.json', 'for cron: exit code 10, or 14 with gaps'],
    [`svc logs review audit --jq '.deletions[] | [.actor_id, .count]'`, 'who deleted how much, for a script'],
  ],
  exitCodes: [
    5,
    6,
    [10, 'there are deletions, changes, or new actors or operations'],
    12,
    [14, 'the archive has nothing of the day, ends before it, or has a gap in it'],
  ],
  paged: true,
  fields: [...new Set([...reviewView.fields, ...statusView.fields])],
  parameters,
  async run(context, input) {
    checkOptions(input);
    if (input.status) return showStatus(context, input);
    const print = await recordPrinter(context, reviewView);
    const { html, force, strict } = input;
    if (html === '-') throw new SvcError('usage', '--html takes a file', { hint: 'Give a file name.' });
    const page = html === undefined ? undefined : resolvePath(context, html);
    if (page !== undefined) await requireFile(page, force);
    const { review: found, manifest } = await makeReview(context, input);
    const labels = await knownLabels(context, found);
    let pageHash: string | undefined;
    if (page !== undefined) {
      const { reviewPage } = await import('../review/page.ts');
      const content = context.out.redact(reviewPage(found, labels, context.clock.now()));
      pageHash = (await writeWhole(page, force, (draft) => draft.write(content))).sha256;
    }
    const refusal = await refusalOf(found, { strict, isSigned: input.signOff, now: context.clock.now() });
    const isSigned = input.signOff && refusal === undefined;
    const made = isSigned ? await signed(context, input, { found, manifest, pageHash }) : found;
    if (isDrawn(context)) {
      const { drawReview } = await import('../review/draw.ts');
      await context.out.write(drawReview(context, made, labels));
    } else {
      // Warnings go to stderr, which is all that a cron job mails.
      for (const { from, to, reason } of made.missing)
        context.notices.warn(`entries may be missing from ${from} to ${to}: ${reason}`);
      await print(made);
    }
    if (refusal) throw refusal;
    if (!isSigned) await judge(made);
  },
});

function checkOptions(input: ReviewInput): void {
  checkSignOff(input);
  const { status, since, within, signOff: isSigned, html } = input;
  if (!status && (since !== undefined || within !== undefined))
    throw new SvcError('usage', `${since === undefined ? '--within' : '--since'} is about --status`, {
      hint: 'Add --status, or name one day with --day.',
    });
  if (status && (isSigned || html !== undefined || input.day !== undefined))
    throw new SvcError('usage', '--status lists days, and cannot be combined with --day, --html or --sign-off', {
      hint: 'Run the command twice.',
    });
}

interface Made {
  readonly review: Review;
  readonly manifest: Manifest;
}

async function makeReview(context: Context, input: ReviewInput): Promise<Made> {
  const [{ readManifest }, { DayReview, PAST_DAYS }] = await Promise.all([
    import('../archive/manifest.ts'),
    import('../review/review.ts'),
  ]);
  const now = context.clock.now();
  const day = input.day ?? moment('yesterday');
  const from = day(now);
  if (from > now) throw new SvcError('usage', 'the day to review is in the future', { hint: 'Choose an earlier day.' });
  const store = await openArchive(context, input.dir);
  const bounds = { since: from - PAST_DAYS * DAY_MS, until: from + DAY_MS };
  const manifest = await readManifest(store, bounds);
  const { coverage, first, segments, index, last } = manifest;
  const reviewed = new DayReview(from, coverage);
  const reading = { dir: input.dir, label: 'review', store, segments, index, ...bounds };
  await countEntries(context, { ...reading, onGroup: (log, bucket) => reviewed.add(log, bucket) });
  const findings = reviewed.findings();
  const content = {
    service: first.service,
    tenant_id: first.tenant_id,
    day: isoTime(from).slice(0, 10),
    ...findings,
    deleted: findings.deletions.length === 0 ? [] : await deletedOn(context, reading, from),
  };
  const sha256 = sha256Of(JSON.stringify(content));
  const signatures = signaturesOf(manifest, content.day, sha256);
  const newest = { record: last.record.sequence, record_sha256: last.sha256 };
  return { review: { archive: store.name, ...content, sha256, signed: signatures, ...newest }, manifest };
}

interface Reading {
  readonly dir: string;
  readonly label: string;
  readonly store: ArchiveStore;
  readonly segments: readonly Segment[];
  readonly index: readonly IndexRef[];
}

/** Reads the deletions of a day from its segments, because the index counts entries without their entities. */
async function deletedOn(context: Context, reading: Reading, from: number): Promise<DeletedEntity[]> {
  const [{ isWithin }, { DeletedEntities }] = await Promise.all([
    import('../archive/manifest.ts'),
    import('../review/deleted.ts'),
  ]);
  const day = { since: from, until: from + DAY_MS };
  const segments = reading.segments.filter((segment) => isWithin(segment, day));
  const deleted = new DeletedEntities();
  const onGroup = (log: Log): void => deleted.add(log);
  await countEntries(context, { ...reading, ...day, segments, among: ['delete'], onGroup });
  return deleted.list();
}

/** Returns the names of actors that were read from the service before; a review needs no key. */
async function knownLabels({ system, clock }: Context, { service, tenant_id: tenantId }: Review): Promise<ActorLabels> {
  const [{ knownApplications }, { labelsOf }] = await Promise.all([
    import('../../cli/config/cache.ts'),
    import('../actor.ts'),
  ]);
  return labelsOf(knownApplications(system, { service, tenantId }, clock.now()).names);
}

function signaturesOf({ reviews }: Manifest, date: string, sha256: string): ReviewSignature[] {
  return reviews
    .filter(({ of, from }) => of === 'day' && from === date)
    .map(({ number, written_at, by, account, note = null, sha256: hash, page_sha256 = null }) => ({
      record: number,
      signed_at: written_at,
      by,
      account,
      note,
      page_sha256,
      is_current: hash === sha256,
    }));
}

/** Signs a review, and returns it with the new signature. */
async function signed(
  context: Context,
  input: ReviewInput,
  {
    found,
    manifest,
    pageHash,
  }: { readonly found: Review; readonly manifest: Manifest; readonly pageHash?: string | undefined },
): Promise<Review> {
  const { day: date, sha256 } = found;
  const reviewed = { of: 'day', from: date, to: date, findings: countsOf(found), sha256, page_sha256: pageHash };
  const { review, hash, earlier } = await signOff(context, input.dir, reviewed, { ...input, manifest });
  if (hash === undefined) return found;
  const reviews = [...earlier, review];
  const signatures = signaturesOf({ ...manifest, reviews }, date, sha256);
  return { ...found, signed: signatures, record: review.number, record_sha256: hash };
}

/** Returns the number of findings of each kind; null for kinds that could not be judged. */
function countsOf({ deletions, changes, new_actors, new_operations }: DayFindings) {
  const rows = { deletions, changes, new_actors, new_operations };
  return Object.fromEntries(Object.entries(rows).map(([kind, found]) => [kind, found?.length ?? null]));
}

function sumOf(counts: Readonly<Record<string, number | null>>): number {
  return Object.values(counts).reduce<number>((sum, count) => sum + (count ?? 0), 0);
}

/** Returns the error for a day that is not completely archived, so that it cannot be judged or signed off. */
async function refusalOf(
  made: Review,
  { strict, isSigned, now }: { readonly strict: boolean; readonly isSigned: boolean; readonly now: number },
): Promise<SvcError | undefined> {
  const [{ failedRange }, { shownTime }] = await Promise.all([
    import('../review/review.ts'),
    import('../review/page.ts'),
  ]);
  const { archive, day: date, missing } = made;
  const failed = isSigned ? unsignable(made, now) : failedRange(missing, Date.parse(date), now);
  const range = strict ? missing[0] : failed;
  if (range === undefined) return undefined;
  const counts = countsOf(made);
  const found = sumOf(counts);
  const { from, to, reason } = range;
  const words = `${archive} does not cover all of ${date}: nothing from ${shownTime(from)} to ${shownTime(to)} (${reason})`;
  const rest = found === 0 ? words : `${words}; ${countText(found, 'finding')} to look at in the rest`;
  return new SvcError('entries_missing', isSigned ? `nothing was signed off: ${rest}` : rest, {
    hint: 'Update the archive and review the day again; a gap stays one.',
    next: ['logs', 'archive', archive],
    facts: { missing, ...withZeros(counts) },
  });
}

/** Returns a range for which a day cannot be signed off: one that may still be archived, or the whole day. A gap stays one. */
function unsignable({ day: date, missing }: Review, now: number) {
  const end = Date.parse(date) + DAY_MS;
  const missingMs = missing.reduce((sum, { from, to }) => sum + Date.parse(to) - Date.parse(from), 0);
  if (end > now) return { from: isoTime(now), to: isoTime(end), reason: 'the day is not over' };
  return missing.find(({ reason }) => reason === 'not archived yet') ?? (missingMs >= DAY_MS ? missing[0] : undefined);
}

function withZeros(counts: Readonly<Record<string, number | null>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).map(([kind, count]) => [kind, count ?? 0]));
}

/** Sets the exit code. @throws SvcError `threshold` for findings */
async function judge(made: Review): Promise<void> {
  const { archive, day: date } = made;
  const counts = countsOf(made);
  const found = sumOf(counts);
  if (found === 0) return;
  const isSigned = made.signed.some(({ is_current: isCurrent }) => isCurrent);
  const signing = ['logs', 'review', archive, '--day', date, '--sign-off'];
  throw new SvcError('threshold', `${countText(found, 'finding')} to look at on ${date}`, {
    hint: isSigned
      ? 'The day is signed off; see the entries themselves.'
      : 'See the entries themselves, then sign the day off.',
    next: ['logs', 'search', archive, '--since', date, '--until', isoTime(Date.parse(date) + DAY_MS).slice(0, 10)],
    alternatives: isSigned ? [] : [signing],
    facts: withZeros(counts),
  });
}

/** Lists the days with their reviews. @throws SvcError `threshold`, `entries_missing` with `--within` */
async function showStatus(context: Context, { dir, since, within }: ReviewInput): Promise<void> {
  const print = await listPrinter(context, statusView);
  const [{ readManifest }, { overdue, statusOf }] = await Promise.all([
    import('../archive/manifest.ts'),
    import('../review/status.ts'),
  ]);
  const now = context.clock.now();
  const store = await openArchive(context, dir);
  const typed = since?.(now);
  const manifest = await readManifest(store, { since: typed ?? now - STATUS_DAYS * DAY_MS, until: now });
  const begin = manifest.coverage.covered()[0]?.from ?? now;
  const days = statusOf(manifest, { since: typed ?? Math.max(begin, now - STATUS_DAYS * DAY_MS), now });
  await print(oneBatch(days));
  const of = (state: DayState): number => days.filter((one) => one.state === state).length;
  context.notices.note(`${of('reviewed')} reviewed, ${of('open')} open, ${of('uncovered')} not in the archive`);
  if (within === undefined) return;
  const late = overdue(days, now, within);
  judgeStatus(store.name, late, within);
}

function judgeStatus(archive: string, late: readonly DayStatus[], within: number): void {
  const open = late.filter(({ state }) => state === 'open');
  const [first] = open;
  if (first !== undefined)
    throw new SvcError(
      'threshold',
      `${countText(open.length, 'day')} of ${archive} ${open.length === 1 ? 'is' : 'are'} open for longer than ${formatDuration(within)}, the first: ${first.day}`,
      {
        hint: 'Review the days, and sign them off.',
        next: ['logs', 'review', archive, '--day', first.day],
        facts: { open: open.map((one) => one.day) },
      },
    );
  const stopped = late.find(({ missing }) => missing.includes('not archived yet'));
  if (stopped === undefined) return;
  throw new SvcError('entries_missing', `${archive} has nothing of ${stopped.day} yet, so nobody can review it`, {
    hint: 'Find out why the archive was not updated, then update it.',
    next: ['logs', 'archive', archive],
    facts: { day: stopped.day },
  });
}
