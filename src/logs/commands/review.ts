import { SvcError } from '../../base/errors.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { moment } from '../../cli/app/moment.ts';
import { flag, type Input, rare, value } from '../../cli/app/parameter.ts';
import { duration, positiveDuration } from '../../cli/app/value-parsers.ts';
import { isoTime, startOfDay } from '../../cli/output/time.ts';
import { archiveLocation } from '../archive/open-archive.ts';
import { PAGE_PARAMETERS, pageOptions } from '../report/page.ts';
import { checkSignOff, SIGN_OFF_PARAMETERS } from '../report/sign-off.ts';
import { accessView, reviewView, statusView } from '../report/views.ts';

const parameters = {
  dir: archiveLocation,
  day: value('--day <date>', 'the day to review, UTC: yesterday (the default), today or 2026-01-31', day),
  ...PAGE_PARAMETERS,
  strict: rare(
    flag('--strict', 'exit with 14 for any time that is missing, also before the archive begins or in the future'),
  ),
  verbose: flag('--verbose', 'also list the deleted entities and each change, on a terminal'),
  ...SIGN_OFF_PARAMETERS,
  status: flag('--status', 'list the days that were reviewed, are open, or are not in the archive'),
  access: flag('--access', 'review who used the service: new and dormant actors'),
  since: value('--since <time>', 'with --status or --access: the first day (default 90d or 180d)', moment),
  within: value(
    '--within <duration>',
    'with --status: exit with 10 when a day is open for longer, such as 3d',
    duration,
  ),
  dormant: rare(
    value(
      '--dormant <duration>',
      'with --access: an actor is dormant without an entry for this long (default 90d)',
      positiveDuration,
    ),
  ),
} as const;

type ReviewInput = Input<typeof parameters>;

function day(typed: string): (now: number) => number {
  if (typed === 'today') return startOfDay;
  if (typed === 'yesterday' || /^\d{4}-\d\d-\d\d$/.test(typed)) return moment(typed);
  throw new SvcError('usage', 'must be a day: yesterday, today or a date such as 2026-01-31');
}

export const review = defineCommand({
  description:
    'Shows what somebody should look at each day: deletions and what was deleted; changes of applications, keys and the tenant; actors and operations that are new compared with the 30 days before; and hours with more than four times the median of the day. --sign-off records in the archive that you reviewed a day that is over and archived.',
  details:
    'It counts the documented fields of the entries and never reads their messages. Nothing is called new if the archive covers less than 7 of the 30 days before. With --sign-off, findings do not change the exit code, and verify reports any change of the record. Only a hash that you keep somewhere else proves later that the newest record was not removed. --access has a row for each actor with its type, name, first and last entry, reads, changes (all that is neither a read nor a delete), deletes and entity types, whether it is new, and whether it is dormant: of whole days (UTC), up to the end of the archive, with --sign-off up to yesterday. Names come from what earlier commands read. The logs show use, not permissions: compare the rows with your list of users and keys.',
  examples: [
    ['svc logs review audit', 'yesterday (UTC)'],
    ['svc logs review audit --day 2026-01-31 --html review.html', 'a day as a page, to print or to file'],
    ['svc logs review audit --sign-off --note SEC-41', 'record that you reviewed yesterday'],
    [
      'svc logs review audit --status --within 3d',
      'which days nobody has reviewed, with exit code 10 after three days',
    ],
    ['svc logs review audit --access --since 90d --html access.html', 'who used the service in a quarter, as a page'],
    ['svc logs review audit --access --sign-off --note SEC-42', 'record that you reviewed who used it'],
    ['svc logs review audit --quiet -o json > review.json', 'for cron: exit code 10, or 14 with gaps'],
    [`svc logs review audit --jq '.deletions[] | [.actor_id, .count]'`, 'who deleted how much, for a script'],
  ],
  exitCodes: [
    5,
    6,
    [10, 'there are deletions, changes, or new actors or operations'],
    [11, 'another process signs a review of the archive'],
    12,
    [14, 'the archive has nothing of the day, ends before it, or has a gap in it'],
  ],
  paged: true,
  fields: [...new Set([...reviewView.fields, ...statusView.fields, ...accessView.fields])],
  parameters,
  async run(context, input) {
    checkOptions(context, input);
    if (input.status) {
      const { reviewStatus } = await import('../report/status.ts');
      return reviewStatus(context, input);
    }
    if (input.access) {
      const { reviewAccess } = await import('../report/review-access.ts');
      return reviewAccess(context, input);
    }
    const { reviewDay } = await import('../report/make-review.ts');
    return reviewDay(context, input);
  },
});

function checkOptions(context: Context, input: ReviewInput): void {
  const { dir, status, access, since, within, dormant, verbose, signOff: isSigned, html, force, strict } = input;
  const date = input.day && isoTime(input.day(context.clock.now())).slice(0, 10);
  if (!access) checkSignOff(context, input, ['logs', 'review', dir, ...option('--day', date), ...pageOptions(input)]);
  if (!status && within !== undefined) throw isAbout('--within', '--status');
  if (!access && dormant !== undefined) throw isAbout('--dormant', '--access');
  if (!status && !access && since !== undefined) throw isAbout('--since', '--status and --access');
  if (access && (status || input.day !== undefined || verbose))
    throw new SvcError('usage', '--access lists actors, and cannot be combined with --day, --status or --verbose', {
      hint: 'Run the command twice.',
    });
  if (status && (isSigned || html !== undefined || input.day !== undefined || verbose || force))
    throw new SvcError(
      'usage',
      '--status lists days, and cannot be combined with --day, --html, --force, --verbose or --sign-off',
      { hint: 'Run the command twice.' },
    );
  if (status && strict)
    throw new SvcError('usage', '--strict is about one day, and does not change the exit code of --status', {
      hint: 'Give --status a --within, such as --within 3d, or leave --status out.',
    });
}

function isAbout(name: string, subject: string): SvcError {
  return new SvcError('usage', `${name} is about ${subject}`, {
    hint: `Add ${subject.replace(' and ', ' or ')}, or name one day with --day.`,
  });
}
