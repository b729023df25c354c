import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { moment, type Moment } from '../../cli/app/moment.ts';
import type { Input } from '../../cli/app/parameter.ts';
import { listPrinter, oneBatch } from '../../cli/app/print.ts';
import { isoTime, startOfDay, utcTime } from '../../cli/output/time.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { knownLabels } from '../actor.ts';
import { type Manifest, readManifest } from '../archive/manifest.ts';
import { missingWarning, uncoveredAdvice } from '../archive/archive-text.ts';
import { openArchive, timelessOf } from '../archive/open-archive.ts';
import { isoMissing } from '../archive/records/coverage.ts';
import { dayOf } from '../archive/records/record.ts';
import { durationText, pastTime } from '../options.ts';
import { type Access, countAccess } from './access.ts';
import { accessFindings, accessReport, accessSummary, accessWarnings, SHOWS_USE_ONLY_TEXT } from './access-report.ts';
import { openPage, type PAGE_PARAMETERS, pageOptions } from './page.ts';
import { untilDay } from './review-rules.ts';
import { checkSignOff, signOff, type SignOffInput } from './sign-off.ts';
import { accessView } from './views.ts';

const DEFAULT_SINCE = '180d';
const DEFAULT_DORMANT_MS = 90 * DAY_MS;

type AccessOptions = Input<typeof PAGE_PARAMETERS> &
  SignOffInput & {
    readonly dir: string;
    readonly since: Moment | undefined;
    readonly dormant: number | undefined;
    readonly strict: boolean;
  };

/** Shows who used the service since a day, and records with --sign-off that somebody reviewed it. @throws SvcError `entries_missing` */
export async function reviewAccess(context: Context, input: AccessOptions): Promise<void> {
  const since = input.since && isoTime(input.since(context.clock.now())).slice(0, 10);
  const options = [
    ...option('--since', since),
    ...option('--dormant', durationText(input.dormant)),
    ...pageOptions(input),
  ];
  checkSignOff(context, input, ['logs', 'review', input.dir, '--access', ...options]);
  const writePage = await openPage(context, input);
  const print = await listPrinter(context, accessView);
  const { made, manifest, unarchived } = await makeAccess(context, input);
  const refusal = refusalOf(made, unarchived, input);
  const sign = async (pageHash?: string): Promise<boolean> => {
    if (refusal !== undefined) return false;
    const { from, to, sha256 } = made;
    const reviewed = { of: 'access', from, to, findings: accessFindings(made), sha256, page_sha256: pageHash };
    return (await signOff(context, input.dir, reviewed, { ...input, manifest })).hash !== undefined;
  };
  await writePage(() => drawPage(context, made), input.signOff ? sign : undefined);
  await print(oneBatch(made.rows));
  reportAccess(context, made, unarchived);
  if (refusal) throw refusal;
}

async function makeAccess(context: Context, input: AccessOptions) {
  const now = context.clock.now();
  const since = pastTime(input.since ?? moment(DEFAULT_SINCE), now);
  const store = await openArchive(context, input.dir);
  const manifest = await readManifest(store);
  const days = daysSince(manifest, { since, now, onlyOver: input.signOff });
  const dormantMs = input.dormant ?? DEFAULT_DORMANT_MS;
  const labels = await knownLabels(context, manifest.first);
  const timeless = timelessOf(manifest.timeless, days);
  const access = await countAccess(context, store, manifest, { dir: input.dir, ...days, dormantMs, timeless, labels });
  return { made: access, manifest, unarchived: unarchivedSince(manifest, since, now) };
}

/** Returns the days of an archive from a time on: up to the day of its end, or to the last day that is over before its end. */
function daysSince(
  { coverage }: Pick<Manifest, 'coverage'>,
  { since, now, onlyOver }: { readonly since: number; readonly now: number; readonly onlyOver: boolean },
) {
  const end = coverage.covered().at(-1)?.to ?? now;
  const overAt = startOfDay(Math.min(end, now));
  return { from: startOfDay(since), to: onlyOver ? overAt : untilDay(dayOf(end - 1)) };
}

/** Time up to the end of yesterday that was not archived. */
interface Unarchived {
  /** The end of the archive; undefined if it covers no time. */
  readonly end: number | undefined;
  readonly range: { readonly from: string; readonly to: string; readonly reason: string };
}

/** Returns the time from `since` to the end of yesterday that is not archived yet. Today cannot be archived completely. */
function unarchivedSince({ coverage }: Pick<Manifest, 'coverage'>, since: number, now: number): Unarchived | undefined {
  const days = { from: startOfDay(since), to: startOfDay(now) };
  const range = coverage.missing(days).find(({ reason }) => reason === 'not archived yet');
  return range && { end: coverage.covered().at(-1)?.to, range: isoMissing(range) };
}

async function drawPage(context: Context, made: Access): Promise<string> {
  const { reportPage } = await import('./report.ts');
  return reportPage(accessReport(made, context.clock.now()));
}

/**
 * Returns the error for a time of which the archive has nothing, or with `--strict` not all. A time that may still be archived
 * is not signed off; a gap stays one.
 */
function refusalOf(
  made: Access,
  unarchived: Unarchived | undefined,
  { strict, signOff: isSigned }: AccessOptions,
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

/** Why time before the first entries is missing. */
const EARLIER: ReadonlySet<string> = new Set(['before the archive', 'dropped by retention']);

function reportAccess({ notices }: Context, made: Access, unarchived: Unarchived | undefined): void {
  const earlier = made.missing.filter(({ reason }) => EARLIER.has(reason));
  const begin = earlier[0]?.reason === 'before the archive' ? earlier.at(-1) : undefined;
  if (begin !== undefined) notices.note(`the archive begins at ${utcTime(begin.to)}`);
  for (const range of made.missing) if (range.reason !== 'before the archive') notices.warn(missingWarning(range));
  if (unarchived) {
    const { end } = unarchived;
    notices.warn(end === undefined ? 'the archive covers no time yet' : `the archive ends at ${utcTime(end)}`);
  }
  for (const words of accessWarnings(made)) notices.warn(words);
  notices.note(`${made.from} to ${made.to}: ${accessSummary(made)}`);
  notices.note(SHOWS_USE_ONLY_TEXT);
}
