import { SvcError } from '../../base/errors.ts';
import { sha256Of } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { moment, type Moment } from '../../cli/app/moment.ts';
import { isoTime } from '../../cli/output/time.ts';
import type { Store } from '../../client/store/store.ts';
import { DAY_MS } from '../../schema/durations.ts';
import type { Log } from '../../schema/log.ts';
import { isWithin, type Manifest, readManifest } from '../archive/manifest.ts';
import { countEntries, openArchive } from '../archive/open-archive.ts';
import type { Segment } from '../archive/records/record.ts';
import { readTimeless, timelessOf } from '../archive/timeless.ts';
import { countFindings } from './count-findings.ts';
import { DeletedEntities, type DeletedEntity } from './deleted.ts';
import type { Review, ReviewSignature } from './page.ts';
import { DayReview, PAST_DAYS } from './review.ts';

/** The archive and the day to review: yesterday if none was typed. */
export interface ReviewedDay {
  readonly dir: string;
  readonly day: Moment | undefined;
}

/** A review, and the archive that it was made from. */
export interface MadeReview {
  readonly review: Review;
  readonly manifest: Manifest;
}

/** Reviews a day. @throws SvcError `usage` for a day in the future */
export async function makeReview(context: Context, input: ReviewedDay): Promise<MadeReview> {
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

interface Reading {
  readonly dir: string;
  readonly label: string;
  readonly store: Store;
  readonly segments: readonly Segment[];
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
export function signaturesOf({ reviews }: Manifest, date: string, sha256: string): ReviewSignature[] {
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
