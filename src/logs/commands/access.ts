import { SvcError } from '../../base/errors.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { flag, type Input, value } from '../../cli/app/parameter.ts';
import { listPrinter, oneBatch } from '../../cli/app/print.ts';
import { moment } from '../../cli/app/moment.ts';
import { positiveDuration } from '../../cli/app/value-parsers.ts';
import { isoTime, SECOND_MS, utcTime } from '../../cli/output/time.ts';
import type { View } from '../../cli/output/view.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { ACCESS_FIELDS, type AccessRow, remarkOf } from '../report/access.ts';
import type { Access, Unarchived } from '../report/count-access.ts';
import { actorText } from '../actor.ts';
import { uncoveredAdvice } from '../archive/archive-errors.ts';
import { archiveLocation, openArchive } from '../archive/open-archive.ts';
import { openPageFile, PAGE_PARAMETERS, pageWords } from '../report/page-file.ts';
import { checkSignOff, SIGN_OFF_PARAMETERS, signOff } from '../report/sign-off.ts';

const DEFAULT_SINCE = '180d';
const DEFAULT_DORMANT_MS = 90 * DAY_MS;

const parameters = {
  dir: archiveLocation,
  since: value('--since <time>', `the first day, UTC: 30d, 2026-01-31 (default ${DEFAULT_SINCE})`, moment),
  dormant: value(
    '--dormant <duration>',
    'an actor is dormant without an entry for this long (default 90d)',
    positiveDuration,
  ),
  ...PAGE_PARAMETERS,
  strict: flag('--strict', 'exit with 14 when the archive does not cover all of the time, up to yesterday'),
  ...SIGN_OFF_PARAMETERS,
} as const;

const accessView: View<AccessRow> = {
  name: 'actor',
  fields: ACCESS_FIELDS,
  columns: [
    { path: 'actor_id', header: 'actor', kind: 'id', show: (_, row) => shownActor(row) },
    { path: 'first_at', header: 'first seen', kind: 'time', priority: 3 },
    { path: 'last_at', header: 'last seen', kind: 'time', priority: 5 },
    { path: 'reads', kind: 'number', priority: 4 },
    { path: 'changes', kind: 'number' },
    { path: 'deletes', kind: 'number' },
    { path: 'entity_types', kind: 'text', priority: 1 },
    { path: 'is_new', header: 'remark', kind: 'text', priority: 6, show: (_, row) => remarkOf(row) },
  ],
};

function shownActor(row: AccessRow): string {
  const { actor_id: id, name } = row;
  return actorText(row, new Map(id === null || name === null ? [] : [[id, name]])) || '(no actor)';
}

export const access = defineCommand({
  description:
    'Shows who used the service, from an archive: one row per actor with its type, name, first and last entry, reads, changes (all that is neither a read nor a delete), deletes and entity types, whether it is new in this time, and whether it is dormant. The rows are of whole days (UTC), up to the end of the archive, with --sign-off up to yesterday. Names come from what earlier commands read. The logs show use, not permissions: compare them with your list of users and keys. --sign-off records in the chain of the archive that you reviewed this.',
  examples: [
    ['svc logs access audit', 'the last 180 days'],
    ['svc logs access audit --since 90d --dormant 30d --html access.html', 'a quarter as a page, to print or to file'],
    ['svc logs access audit -o csv > access.csv', 'for a spreadsheet'],
    ['svc logs access audit --sign-off --note SEC-42', 'record that you reviewed it'],
  ],
  exitCodes: [5, 6, [11, 'another process signs a review of the archive'], 12, 14],
  paged: true,
  fields: accessView.fields,
  parameters,
  async run(context, input) {
    const since = input.since && isoTime(input.since(context.clock.now())).slice(0, 10);
    const dormant = input.dormant === undefined ? undefined : `${input.dormant / SECOND_MS}s`;
    const options = [...option('--since', since), ...option('--dormant', dormant), ...pageWords(input)];
    checkSignOff(context, input, ['logs', 'access', input.dir, ...options]);
    const page = await openPageFile(context, input, input.dir);
    const print = await listPrinter(context, accessView);
    const { made, manifest, unarchived } = await makeAccess(context, input);
    const refusal = refusalOf(made, unarchived, input);
    const sign = async (pageHash?: string): Promise<boolean> => {
      if (!input.signOff || refusal !== undefined) return false;
      const { accessFindings } = await import('../report/count-access.ts');
      const { from, to, sha256 } = made;
      const reviewed = { of: 'access', from, to, findings: accessFindings(made), sha256, page_sha256: pageHash };
      return (await signOff(context, input.dir, reviewed, { ...input, manifest })).hash !== undefined;
    };
    if (page === undefined) await sign();
    else if (input.signOff) await page.writeSigned(await drawPage(context, made), sign);
    else await page.write(await drawPage(context, made));
    await print(oneBatch(made.rows));
    await report(context, made, unarchived);
    if (refusal) throw refusal;
  },
});

async function makeAccess(context: Context, input: Input<typeof parameters>) {
  const [{ readManifest }, { timelessOf }, { countAccess, daysSince, unarchivedSince }, { knownLabels }] =
    await Promise.all([
      import('../archive/manifest.ts'),
      import('../archive/timeless.ts'),
      import('../report/count-access.ts'),
      import('../actor-names.ts'),
    ]);
  const now = context.clock.now();
  const since = (input.since ?? moment(DEFAULT_SINCE))(now);
  if (since > now) throw new SvcError('usage', '--since takes a time in the past', { hint: 'Such as 180d.' });
  const store = await openArchive(context, input.dir);
  const manifest = await readManifest(store);
  const days = daysSince(manifest, { since, now, onlyOver: input.signOff });
  const dormantMs = input.dormant ?? DEFAULT_DORMANT_MS;
  const labels = await knownLabels(context, manifest.first);
  const timeless = timelessOf(manifest.timeless, days);
  const made = await countAccess(context, store, manifest, { dir: input.dir, ...days, dormantMs, timeless, labels });
  return { made, manifest, unarchived: unarchivedSince(manifest, since, now) };
}

async function drawPage(context: Context, made: Access): Promise<string> {
  const { accessPage } = await import('../report/access-page.ts');
  return accessPage(made, context.clock.now());
}

/**
 * Returns the error for a time of which the archive has nothing, or with `--strict` not all. A time that may still be archived
 * is not signed off; a gap stays one.
 */
function refusalOf(
  made: Access,
  unarchived: Unarchived | undefined,
  { strict, signOff: isSigned }: Input<typeof parameters>,
): SvcError | undefined {
  const { archive, from, to, rows } = made;
  const missing = [...made.missing, ...(unarchived ? [unarchived.range] : [])];
  const first = strict ? missing[0] : isSigned ? unarchived?.range : undefined;
  // Entries without a readable time are shown, but no day can be signed off with them.
  const isNothing = from > to && (isSigned || rows.length === 0);
  if (!isNothing && first === undefined) return undefined;
  const unsigned = isSigned ? 'nothing was signed off: ' : '';
  const isTooEarly = isNothing && isSigned && unarchived === undefined;
  const advice = isTooEarly
    ? { hint: 'Sign it off once the day is over, or choose an earlier --since.' }
    : uncoveredAdvice(archive, isNothing || unarchived !== undefined);
  const words = isNothing
    ? isTooEarly
      ? `no day since ${from} is over`
      : `${archive} ends before ${from}`
    : `${archive} lacks ${first?.from ?? ''} to ${first?.to ?? ''} (${first?.reason ?? ''})`;
  return new SvcError('entries_missing', `${unsigned}${words}`, { ...advice, facts: { missing } });
}

async function report({ notices }: Context, made: Access, unarchived: Unarchived | undefined): Promise<void> {
  const { accessSummary, timelessInRows, USE_ONLY } = await import('../report/access-page.ts');
  for (const { from, to, reason } of made.missing)
    if (reason === 'before the archive') notices.note(`the archive begins at ${utcTime(to)}`);
    else notices.warn(`entries may be missing from ${utcTime(from)} to ${utcTime(to)}: ${reason}`);
  if (unarchived) {
    const { end } = unarchived;
    notices.warn(end === undefined ? 'the archive covers no time yet' : `the archive ends at ${utcTime(end)}`);
  }
  for (const words of timelessInRows(made)) notices.warn(words);
  if (made.isFull) notices.note('too many actors to count each: those met last are counted as (others)');
  notices.note(`${made.from} to ${made.to}: ${accessSummary(made)}`);
  notices.note(USE_ONLY);
}
