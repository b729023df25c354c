import { maskCardNumbers } from '../../base/security/card-number.ts';
import { ownMember } from '../../schema/own-member.ts';
import { cleanText } from './text.ts';
import { text as STYLE } from './page.css';

/** Returns a self-contained HTML page: no script, nothing loaded from elsewhere. */
export function htmlPage({ title, heading }: Readonly<Record<'title' | 'heading', string>>, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(heading)}</h1>
${body}</main>
</body>
</html>
`;
}

/** Returns a section of a page, with a heading. */
export function pageSection(heading: string, content: string): string {
  return `<section class="long"><h2 id="${headingId(heading)}">${escapeHtml(heading)}</h2>\n${content}</section>\n`;
}

/** Returns the id of a section's heading, which is the label of the table in it. */
export function headingId(heading: string): string {
  return heading.toLowerCase().replaceAll(/[^a-z]+/g, '-');
}

/** Formats a time in epoch milliseconds as `2026-01-31 09:00 UTC`. */
export function timeTag(at: number): string {
  const iso = new Date(at).toISOString();
  return `<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Escapes text for a page, also within a quoted attribute. Masks card numbers, as in every output, and makes visible the
 * characters that hide or reverse text.
 */
export function escapeHtml(text: string): string {
  return maskCardNumbers(cleanText(text)).replaceAll(/[&<>"']/g, (sign) => ownMember(ENTITIES, sign) ?? '');
}
