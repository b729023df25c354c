import { escapeHtml, htmlPage, timeTag } from '../../cli/output/page.ts';
import { countText } from '../../cli/output/time.ts';
import { type MissingText, missingHtml } from './coverage-text.ts';

/** What the page of any review says of the archive and the reviewed days. */
export interface ReviewedArchive {
  readonly archive: string;
  readonly service: string;
  readonly tenant_id: string;
  readonly entries: number;
  readonly missing: readonly MissingText[];
  /** The hash of what was reviewed. */
  readonly sha256: string;
}

interface PageWords {
  readonly title: string;
  /** The sentence that stands where nothing is missing. */
  readonly complete: string;
  /** The time of the page in epoch milliseconds. */
  readonly madeAt: number;
}

/** Returns a review of an archive as one self-contained page around its sections. */
export function archivePage(
  { archive, service, tenant_id: tenant, entries, missing, sha256 }: ReviewedArchive,
  { title, complete, madeAt }: PageWords,
  sections: string,
): string {
  const body = `<p>${countText(entries, 'log entry')} of tenant ${escapeHtml(tenant)} at ${escapeHtml(service)}</p>
<p class="soft">Archive ${escapeHtml(archive)}, made ${timeTag(madeAt)}</p>
${missingHtml(missing, complete)}
${sections}<p class="soft">SHA-256 of what is reviewed here: <code>${sha256}</code></p>
`;
  return htmlPage({ title, heading: `${title} (UTC)` }, body);
}
