import type { Context } from '../../cli/app/command.ts';
import type { Input } from '../../cli/app/parameter.ts';
import { isoTime } from '../../cli/output/time.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { type MadeReview, makeReview, type ReviewedDay, signaturesOf } from './make-review.ts';
import type { Review } from './page.ts';
import type { PAGE_PARAMETERS } from './page-file.ts';
import { unsignedDay } from './review-errors.ts';
import { openReviewOutput } from './review-output.ts';
import { type SignOffInput, signOff } from './sign-off.ts';

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

/** Returns a range for which a day cannot be signed off: one that may still be archived, or the whole day. A gap stays one. */
function unsignable({ day: date, missing }: Review, now: number) {
  const end = Date.parse(date) + DAY_MS;
  const missingMs = missing.reduce((sum, { from, to }) => sum + Date.parse(to) - Date.parse(from), 0);
  if (end > now) return { from: isoTime(now), to: isoTime(end), reason: 'the day is not over' };
  return missing.find(({ reason }) => reason === 'not archived yet') ?? (missingMs >= DAY_MS ? missing[0] : undefined);
}
