import { escapeHtml, htmlPage, timeTag } from '../../cli/output/page.ts';
import { countText } from '../../cli/output/time.ts';
import { type MissingText, missingHtml } from './archive-text.ts';

/** What the page of any review says of the reviewed entries. */
export interface ReviewedEntries {
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
