import { createHash } from 'node:crypto';
import type { Exchange } from '../../routes/route.ts';
import { STYLE } from './style.ts';

/** Text that is safe inside HTML. Only `html` makes it from text. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** HTML with values in it: text is escaped, HTML and lists of it are not. */
export function html(
  strings: TemplateStringsArray,
  ...values: readonly (string | Html | readonly Html[])[]
): Html {
  const inserted = values.map((value) => {
    if (typeof value === 'string') return escape(value);
    return value instanceof Html ? value.text : value.map(({ text }) => text).join('');
  });
  return new Html(String.raw({ raw: strings }, ...inserted));
}

/** A page of the access control server. */
export interface Page {
  readonly status: number;
  readonly title: string;
  readonly main: Html;
}

/** Sends a page. It runs no script and loads nothing. */
export function sendPage({ incoming, outgoing }: Exchange, { status, title, main }: Page): void {
  const body = documentOf(title, main);
  outgoing.statusCode = status;
  outgoing.setHeader('content-type', 'text/html; charset=utf-8');
  outgoing.setHeader('content-length', Buffer.byteLength(body));
  setPolicies(outgoing);
  outgoing.end(incoming.method === 'HEAD' ? undefined : body);
}

/** Sends a browser elsewhere: with 303 it asks for the address, with 307 it sends its form there again. */
export function sendElsewhere({ outgoing }: Exchange, status: 303 | 307, address: string): void {
  outgoing.statusCode = status;
  outgoing.setHeader('location', address);
  outgoing.setHeader('content-length', 0);
  setPolicies(outgoing);
  outgoing.end();
}

// Merchants show these pages in a frame, so framing is let be.
const CONTENT_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
].join('; ');

function setPolicies(outgoing: Exchange['outgoing']): void {
  outgoing.setHeader('content-security-policy', CONTENT_POLICY);
  outgoing.setHeader('cache-control', 'no-store');
  outgoing.setHeader('referrer-policy', 'no-referrer');
  outgoing.setHeader('x-content-type-options', 'nosniff');
}

function documentOf(title: string, main: Html): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} – Sandbox Bank</title>
<style>${STYLE}</style>
</head>
<body>
<header><p>Sandbox Bank</p><p class="note">a test: no money moves</p></header>
<main>
${main.text.trim()}
</main>
</body>
</html>
`;
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}
