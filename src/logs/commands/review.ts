import { SvcError } from '../../base/errors.ts';
import { writeWhole } from '../../base/files/draft.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { flag, type Input, value } from '../../cli/app/parameter.ts';
import { isDrawn, recordPrinter } from '../../cli/app/print.ts';
import { requireFile, resolvePath } from '../../cli/app/typed-path.ts';
import { moment, text } from '../../cli/app/value-parsers.ts';
import { countText, isoTime } from '../../cli/output/time.ts';
import { simpleColumns, type View } from '../../cli/output/view.ts';
import { archiveLocation, countEntries, openArchive } from '../archive/open-archive.ts';
import type { Review } from '../review/page.ts';

const DAY_MS = 86_400_000;

const parameters = {
  dir: archiveLocation,
  day: value('--day <date>', 'the day to review, UTC: yesterday (the default), today or 2026-01-31', day),
  html: value('--html <file>', 'write the review as one page, too', text),
  force: flag('--force', 'replace a file that exists'),
  strict: flag('--strict', 'exit with 14 also for hours before the archive begins, or still to come'),
} as const;

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
    'changes',
    'new_actors',
    'new_operations',
    'hours',
    'median',
    'busy_hours',
  ],
  columns: simpleColumns({ day: 'id', entries: 'number' }),
};

export const review = defineCommand({
  description:
    'Shows what somebody should look at each day: deletions; changes of applications, keys and the tenant; actors and operations that the 30 days before do not have; and hours with more than four times the median of the day. It counts the documented fields of the entries and never reads their messages. Nothing is called new where the archive covers less than 7 of the 30 days before. Exit code 10 means that there is something of the first three kinds, and 14 that the archive has nothing of the day, ends before it does or has a gap in it.',
  examples: [
    ['svc logs review audit', 'yesterday (UTC)'],
    ['svc logs review audit --day 2026-01-31 --html review.html', 'a day as a page, to print or to file'],
    ['svc logs review audit --quiet -o json > review.json', 'for cron: exit code 10, or 14 with gaps'],
    [`svc logs review audit --jq '.deletions[] | [.actor_id, .count]'`, 'who deleted how much, for a script'],
  ],
  exitCodes: [5, 10, 12, 14],
  paged: true,
  fields: reviewView.fields,
  parameters,
  async run(context, input) {
    const print = await recordPrinter(context, reviewView);
    const { html, force } = input;
    if (html === '-') throw new SvcError('usage', '--html takes a file', { hint: 'Give a file name.' });
    const page = html === undefined ? undefined : resolvePath(context, html);
    if (page !== undefined) await requireFile(page, force);
    const made = await makeReview(context, input);
    if (page !== undefined) {
      const { reviewPage } = await import('../review/page.ts');
      const content = context.out.redact(reviewPage(made, context.clock.now()));
      await writeWhole(page, force, (draft) => draft.write(content));
    }
    if (isDrawn(context)) {
      const { drawReview } = await import('../review/draw.ts');
      await context.out.write(drawReview(context, made));
    } else {
      // Warnings go to stderr, which is all that a cron job mails.
      for (const { from, to, reason } of made.missing)
        context.notices.warn(`entries may be missing from ${from} to ${to}: ${reason}`);
      await print(made);
    }
    await judge(made, input.strict, context.clock.now());
  },
});

async function makeReview(context: Context, input: Input<typeof parameters>): Promise<Review> {
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
  const { coverage, first, segments, index } = await readManifest(store, bounds);
  const reviewed = new DayReview(from, coverage);
  const reading = { dir: input.dir, label: 'review', store, segments, index, ...bounds };
  await countEntries(context, { ...reading, onGroup: (log, bucket) => reviewed.add(log, bucket) });
  const names = { archive: store.name, service: first.service, tenant_id: first.tenant_id };
  return { ...names, day: isoTime(from).slice(0, 10), ...reviewed.findings() };
}

/** Sets the exit code. @throws SvcError `entries_missing` if the day is not completely archived, `threshold` for findings */
async function judge(made: Review, strict: boolean, now: number): Promise<void> {
  const [{ failedRange }, { shownTime }] = await Promise.all([
    import('../review/review.ts'),
    import('../review/page.ts'),
  ]);
  const { archive, day: date, missing, deletions, changes, new_actors, new_operations } = made;
  const counts = { deletions, changes, new_actors: new_actors ?? [], new_operations: new_operations ?? [] };
  const found = Object.values(counts).reduce((sum, rows) => sum + rows.length, 0);
  const facts = Object.fromEntries(Object.entries(counts).map(([name, rows]) => [name, rows.length]));
  const findings = `${countText(found, 'finding')} to look at`;
  const failed = strict ? missing[0] : failedRange(missing, Date.parse(date), now);
  if (failed !== undefined) {
    const { from, to, reason } = failed;
    const words = `${archive} does not cover all of ${date}: nothing from ${shownTime(from)} to ${shownTime(to)} (${reason})`;
    throw new SvcError('entries_missing', found === 0 ? words : `${words}; ${findings} in the rest`, {
      hint: 'Update the archive and review the day again; a gap stays one.',
      next: ['logs', 'archive', archive],
      facts: { missing, ...facts },
    });
  }
  if (found === 0) return;
  throw new SvcError('threshold', `${findings} on ${date}`, {
    hint: 'See the entries themselves, and note down who looked at them.',
    next: ['logs', 'search', archive, '--since', date, '--until', isoTime(Date.parse(date) + DAY_MS).slice(0, 10)],
    facts,
  });
}
