// The options of reviews that are written as a page.

import fs from 'node:fs';
import { SvcError } from '../../base/errors.ts';
import { Draft, writeWhole } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { requireFile, resolvePath } from '../../cli/app/files/typed-path.ts';
import { option } from '../../cli/app/hint.ts';
import { flag, type Input, value, writing } from '../../cli/app/parameter.ts';
import { text } from '../../cli/app/value-parsers.ts';

/** The options of a review that can be written as a page. */
export const PAGE_PARAMETERS = {
  html: writing(value('--html <file>', 'also write the review as one page', text)),
  force: flag('--force', 'replace a file that exists'),
} as const;

/** Returns --html, --force and --strict as they were typed, as words of a command line. */
export function pageOptions({
  html,
  force,
  strict,
}: Input<typeof PAGE_PARAMETERS> & { readonly strict: boolean }): string[] {
  return [...option('--html', html), ...(force ? ['--force'] : []), ...(strict ? ['--strict'] : [])];
}

/**
 * Records what a page shows, under the hash of the page if one was written. Resolves to whether anything was recorded: a review
 * that was signed before is not recorded twice.
 */
type Sign = (pageHash?: string) => Promise<boolean>;

/** Writes the page without secrets, if it was requested. With `sign`, the review is recorded too. */
type WritePage = (draw: () => Promise<string>, sign?: Sign) => Promise<void>;

/** Checks where the page is to be written, before anything is counted. @throws SvcError `usage` */
export async function openPage(context: Context, { html, force }: Input<typeof PAGE_PARAMETERS>): Promise<WritePage> {
  if (html === undefined) return async (_, sign) => void (await sign?.());
  if (html === '-') throw new SvcError('usage', '--html takes a file', { hint: 'Give a file name.' });
  const file = resolvePath(context, html);
  const { requireOutside } = await import('../archive/place.ts');
  requireOutside(context, { option: '--html', typed: html });
  await requireFile(file, force);
  return async (draw, sign) => {
    const content = context.out.redact(await draw());
    if (sign === undefined)
      return void (await writeWhole(file, force, (draft) => draft.write(content), { writer: context.system }));
    const draft = await Draft.begin(file, context.system);
    try {
      await draft.write(content);
      const isNew = !fs.existsSync(file);
      const { sha256 } = await (isNew ? draft.finish(false) : draft.seal());
      const isRecorded = await sign(sha256);
      if (isNew) return;
      // A file that exists may be the page of an earlier record.
      if (isRecorded) await draft.finish(true);
      else
        context.notices.warn(
          `${html} was not replaced, because no review was recorded; it may be the page of an earlier review`,
        );
    } finally {
      await draft.discard();
    }
  };
}
