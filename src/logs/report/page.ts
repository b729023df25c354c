import fs from 'node:fs';
import { SvcError } from '../../base/errors.ts';
import { Draft, writeWhole } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { requireFile, resolvePath } from '../../cli/app/files/typed-path.ts';
import { option } from '../../cli/app/hint.ts';
import { flag, type Input, value, writing } from '../../cli/app/parameter.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { escapeHtml, htmlPage, timeTag } from '../../cli/output/page.ts';
import { countText } from '../../cli/output/time.ts';
import { missingText, type MissingText } from '../archive/archive-text.ts';
import { requireOutside } from '../archive/open-archive.ts';

/** What the page of any review says of the reviewed entries. */
interface ReviewedEntries {
  /** The archive; undefined for entries that were read from the service. */
  readonly archive?: string;
  readonly service: string;
  /** Undefined if no entry was read. */
  readonly tenant_id: string | undefined;
  readonly entries: number;
  readonly missing: readonly MissingText[];
  /** The hash of what was reviewed, if it can be read again. */
  readonly sha256?: string;
}

interface PageWords {
  readonly title: string;
  /** The sentence that stands where nothing is missing. */
  readonly complete: string;
  readonly warnings?: readonly string[];
  /** The time of the page in epoch milliseconds. */
  readonly madeAt: number;
}

/** Returns a review as one self-contained page around its sections. */
export function archivePage(
  { archive, service, tenant_id: tenant, entries, missing, sha256 }: ReviewedEntries,
  { title, complete, warnings = [], madeAt }: PageWords,
  sections: string,
): string {
  const whose = tenant === undefined ? '' : ` of tenant ${escapeHtml(tenant)}`;
  const source = archive === undefined ? 'Read from the service' : `Archive ${escapeHtml(archive)}`;
  const foot =
    sha256 === undefined ? '' : `<p class="soft">SHA-256 of what is reviewed here: <code>${sha256}</code></p>\n`;
  const body = `<p>${countText(entries, 'log entry')}${whose} at ${escapeHtml(service)}</p>
<p class="soft">${source}, made ${timeTag(madeAt)}</p>
${missingHtml(missing, complete)}
${warnings.map(warningHtml).join('')}${sections}${foot}`;
  return htmlPage({ title, heading: `${title} (UTC)` }, body);
}

/** Returns a warning for the top of a page. */
export function warningHtml(words: string): string {
  return `<p class="odd">${escapeHtml(words)}</p>\n`;
}

/** The options of a review that can be written as a page. */
export const PAGE_PARAMETERS = {
  html: writing(value('--html <file>', 'also write the review as one page', text)),
  force: flag('--force', 'replace a file that exists'),
} as const;

/** Returns the options of a page and of its strictness as they were typed. */
export function pageWords({
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
      return (await writeWhole(file, force, (draft) => draft.write(content))).sha256;
    },
    async writeSigned(page, sign) {
      const draft = await Draft.begin(file);
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

/** Returns the missing ranges for a page; the given words if nothing is missing. */
function missingHtml(missing: readonly MissingText[], nothing: string): string {
  if (missing.length === 0) return `<p class="fine">${escapeHtml(nothing)}</p>`;
  const items = missing.map((range) => `<li>${escapeHtml(missingText(range))}</li>`);
  return `<div class="odd"><p><strong>Entries may be missing:</strong></p><ul>${items.join('')}</ul></div>`;
}
