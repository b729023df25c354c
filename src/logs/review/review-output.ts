import { isSvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import type { Input } from '../../cli/app/parameter.ts';
import { isDrawn, recordPrinter } from '../../cli/app/print.ts';
import { serviceOf } from '../../cli/app/service.ts';
import type { ActorLabels } from '../actor.ts';
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
    async show(review: Review, isVerbose: boolean): Promise<void> {
      if (isDrawn(context)) {
        const { drawReview } = await import('./draw.ts');
        return context.out.write(drawReview(context, review, await labelsOf(context, review), isVerbose));
      }
      return this.print(review);
    },
    /** Prints the review for programs, with its warnings. A table leaves it out. */
    async print(review: Review): Promise<void> {
      if (isDrawn(context)) return;
      // Warnings go to stderr, which is all that a cron job mails.
      for (const { from, to, reason } of review.missing)
        context.notices.warn(`entries may be missing from ${from} to ${to}: ${reason}`);
      for (const words of timelessWarnings(review)) context.notices.warn(words);
      await print(review);
    },
  };
}

/**
 * Returns the names of actors. A person at a terminal also gets those that were not read before, where this command line has
 * the service of the archive.
 */
async function labelsOf(context: Context, review: Review): Promise<ActorLabels> {
  const { ActorNames } = await import('../actor-names.ts');
  const { service, tenant_id, deletions, changes, new_actors } = review;
  const actors = new ActorNames(context, service);
  actors.isOffline = !context.out.isTerminal || !isSameService(context, service);
  const rows = [...deletions, ...changes, ...(new_actors ?? [])];
  try {
    await actors.learn(rows.map(({ actor_id, actor_type }) => ({ actor_id, actor_type, tenant_id })));
  } catch (error) {
    // Without a key, an actor is shown by its id.
    if (!isSvcError(error)) throw error;
  }
  return actors.labelsOf(tenant_id);
}

function isSameService(context: Context, service: string): boolean {
  try {
    return serviceOf(context) === service;
  } catch {
    return false;
  }
}
