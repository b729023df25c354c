import type { Context } from '../../cli/app/command.ts';
import type { Input } from '../../cli/app/parameter.ts';
import { isDrawn } from '../../cli/app/print.ts';
import { hasFindings } from './count-findings.ts';
import { makeReview, type ReviewedDay } from './make-review.ts';
import type { PAGE_PARAMETERS } from './page-file.ts';
import { failedRange } from './review.ts';
import { findingsFound, incompleteDay } from './review-errors.ts';
import { openReviewOutput } from './review-output.ts';

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
