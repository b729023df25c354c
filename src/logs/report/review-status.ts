import type { Context } from '../../cli/app/command.ts';
import type { Moment } from '../../cli/app/moment.ts';
import { listPrinter, oneBatch } from '../../cli/app/print.ts';
import { startOfDay } from '../../cli/output/time.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { type Manifest, readManifest } from '../archive/manifest.ts';
import { openArchive } from '../archive/open-archive.ts';
import { archiveStopped, daysOpen } from './review-errors.ts';
import { type DayState, type DayStatus, overdue, statusOf } from './status.ts';
import { statusView } from './views.ts';

const STATUS_DAYS = 90;

interface StatusOptions {
  readonly dir: string;
  readonly since: Moment | undefined;
  readonly within: number | undefined;
}

/** Lists the days with their reviews. @throws SvcError `threshold`, `entries_missing` with `--within` */
export async function reviewStatus(context: Context, { dir, since, within }: StatusOptions): Promise<void> {
  const print = await listPrinter(context, statusView);
  const now = context.clock.now();
  const store = await openArchive(context, dir);
  const first = since?.(now) ?? now - STATUS_DAYS * DAY_MS;
  // The first day is judged as a whole, so its earlier segments count too.
  const manifest = await readManifest(store, { since: startOfDay(first), until: now });
  const days = statusOf(manifest, { since: since ? first : Math.max(beginOf(manifest), first), now });
  await print(oneBatch(days));
  const of = (state: DayState): number => days.filter((one) => one.state === state).length;
  context.notices.note(`${of('reviewed')} reviewed, ${of('open')} open, ${of('uncovered')} not in the archive`);
  if (within !== undefined) judge(store.name, overdue(days, now, within), within);
}

/** Returns the beginning of an archive, also of one that has archived nothing yet. */
function beginOf({ coverage, last }: Pick<Manifest, 'coverage' | 'last'>): number {
  // Before the first commit, the archive still ends where it began.
  return (coverage.covered()[0] ?? coverage.whole())?.from ?? Date.parse(last.record.position.read_to);
}

function judge(archive: string, late: readonly DayStatus[], within: number): void {
  const open = late.filter(({ state }) => state === 'open');
  const [first] = open;
  if (first !== undefined) throw daysOpen(archive, first, open, within);
  const stopped = late.find(({ missing }) => missing.includes('not archived yet'));
  if (stopped !== undefined) throw archiveStopped(archive, stopped);
}
