import type { Context } from '../../cli/app/command.ts';
import type { Input } from '../../cli/app/parameter.ts';
import { isDrawn, recordPrinter } from '../../cli/app/print.ts';
import { knownLabels } from '../known-labels.ts';
import { timelessWarnings } from './deleted.ts';
import type { Review } from './page.ts';
import { openPageFile, type PAGE_PARAMETERS } from './page-file.ts';
import { reviewView } from './views.ts';

/** Opens what a review is written to, before anything is read. @throws SvcError `usage` */
export async function openReviewOutput(
  context: Context,
  options: Input<typeof PAGE_PARAMETERS> & { readonly dir: string },
) {
  const print = await recordPrinter(context, reviewView);
  const page = await openPageFile(context, options, options.dir);
  const drawn = async (review: Review): Promise<string> => {
    const { reviewPage } = await import('./page.ts');
    return reviewPage(review, await knownLabels(context, review), context.clock.now());
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
    async show(review: Review): Promise<void> {
      if (isDrawn(context)) {
        const { drawReview } = await import('./draw.ts');
        return context.out.write(drawReview(context, review, await knownLabels(context, review)));
      }
      // Warnings go to stderr, which is all that a cron job mails.
      for (const { from, to, reason } of review.missing)
        context.notices.warn(`entries may be missing from ${from} to ${to}: ${reason}`);
      for (const words of timelessWarnings(review)) context.notices.warn(words);
      await print(review);
    },
  };
}
