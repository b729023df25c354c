import fs from 'node:fs';
import { SvcError } from '../../base/errors.ts';
import { Draft, writeWhole } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { requireFile, resolvePath } from '../../cli/app/files/typed-path.ts';
import { option } from '../../cli/app/hint.ts';
import { flag, type Input, value, writing } from '../../cli/app/parameter.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { requireOutside } from '../archive/open-archive.ts';

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

/** A file that was found to be writable before anything was counted. */
interface PageFile {
  /** Writes the page without secrets, and returns the hash of the file. */
  readonly write: (page: string) => Promise<string>;
  /**
   * Writes the page of a review that `sign` records under the hash of the file. A file that exists may be the page of an
   * earlier record: it is replaced only after `sign` has resolved to true, because something was recorded.
   */
  readonly writeSigned: (page: string, sign: (sha256: string) => Promise<boolean>) => Promise<void>;
}

/** Checks where the page about an archive is to be written; undefined without `--html`. @throws SvcError `usage` */
export async function openPageFile(
  context: Context,
  { html, force }: Input<typeof PAGE_PARAMETERS>,
  archive: string | undefined,
): Promise<PageFile | undefined> {
  if (html === undefined) return undefined;
  if (html === '-') throw new SvcError('usage', '--html takes a file', { hint: 'Give a file name.' });
  const file = resolvePath(context, html);
  if (archive !== undefined) requireOutside(context, { option: '--html', typed: html }, archive);
  await requireFile(file, force);
  return {
    async write(page) {
      const content = context.out.redact(page);
      return (await writeWhole(file, force, (draft) => draft.write(content), { writer: context.system })).sha256;
    },
    async writeSigned(page, sign) {
      const draft = await Draft.begin(file, context.system);
      try {
        await draft.write(context.out.redact(page));
        const isNew = !fs.existsSync(file);
        const { sha256 } = await (isNew ? draft.finish(false) : draft.seal());
        const isRecorded = await sign(sha256);
        if (isNew) return;
        if (isRecorded) await draft.finish(true);
        else
          context.notices.warn(
            `${html} was not replaced, because no review was recorded; it may be the page of an earlier review`,
          );
      } finally {
        await draft.discard();
      }
    },
  };
}
