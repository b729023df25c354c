import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { textResponse } from '../../problem.ts';
import type { Service } from '../../service.ts';
import { findSession, type Session } from '../../state/world.ts';

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

/** The response that shows a page. It runs no script and loads nothing. */
export function pageResponse({ status, title, main }: Page): Response {
  return textResponse(status, documentOf(title, main), {
    'content-type': 'text/html; charset=utf-8',
    ...POLICIES,
  });
}

/** Redirects a browser: with 303 it requests the address, with 307 it posts its form there again. */
export function redirect(status: 303 | 307, address: string): Response {
  return textResponse(status, '', { location: address, ...POLICIES });
}

/** The one style sheet of the pages. Its hash goes into their content policy. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f2f4f7; --paper: #fff; --ink: #1a2230; --quiet: #4b5565; --line: #7b8696;
  --accent: #1d4ed8; --on-accent: #fff; --bad: #b42318; --hint: #fdf3d7; --on-hint: #4a3500;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #10151d; --paper: #1a212c; --ink: #eef1f5; --quiet: #b4bdca; --line: #8b96a6;
    --accent: #9db8ff; --on-accent: #0c1a3d; --bad: #ff9c92; --hint: #3a2f10; --on-hint: #ffe7a3;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1rem; max-width: 30rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
header {
  display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: 0 1rem;
  margin-block: 0.5rem 1rem;
}
header p { margin: 0; font-weight: 600; }
header .note { font-weight: 400; }
.note { color: var(--quiet); font-size: 0.9375rem; }
main { background: var(--paper); border: 1px solid var(--line); border-radius: 0.5rem; padding: 1.25rem; }
h1 { margin: 0 0 0.75rem; font-size: 1.375rem; line-height: 1.25; }
p { margin: 0 0 1rem; }
main > :last-child { margin-bottom: 0; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 0.25rem 1rem; margin: 0 0 1.25rem; }
dt { color: var(--quiet); }
dd { margin: 0; text-align: end; font-weight: 600; }
label { display: block; margin-bottom: 0.25rem; font-weight: 600; }
input {
  width: 100%; padding: 0.625rem 0.75rem; border: 1px solid var(--line); border-radius: 0.375rem;
  background: var(--paper); color: inherit; font: inherit; font-size: 1.25rem; letter-spacing: 0.15em;
}
input[aria-invalid="true"] { border: 2px solid var(--bad); }
.buttons { display: flex; flex-direction: column; gap: 0.75rem; margin: 1.25rem 0; }
button {
  min-height: 2.75rem; padding: 0.5rem 1rem; border: 1px solid var(--accent); border-radius: 0.375rem;
  background: none; color: var(--accent); font: inherit; font-weight: 600; cursor: pointer;
}
button.first { background: var(--accent); color: var(--on-accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.wrong { margin: 0.5rem 0 0; color: var(--bad); font-weight: 600; }
.hint { padding: 0.75rem; border-radius: 0.375rem; background: var(--hint); color: var(--on-hint); }
.hint b { font-family: ui-monospace, monospace; font-size: 1.0625rem; }
@media (max-width: 22rem) {
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 0.5rem; text-align: start; }
}
@media print {
  :root { color-scheme: light; --ground: #fff; --paper: #fff; --ink: #000; --quiet: #333; }
  body { margin: 0; padding: 0; }
  main { border: 0; padding: 0; }
  form, .hint { display: none; }
}
`;

// Merchants show these pages in a frame, so framing is let be.
const CONTENT_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
].join('; ');

const POLICIES = {
  'content-security-policy': CONTENT_POLICY,
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

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

/** A request for a page of the access control server. */
export interface Visit {
  readonly service: Service;
  readonly request: Request;
  /** Address of the browser; empty where it is not known. */
  readonly remoteAddress: string;
  /** The session that the path names. */
  readonly id: string;
  /** What the path carries besides; empty where it carries nothing. */
  readonly token: string;
  /** The sandbox's time at arrival. */
  readonly now: number;
}

/** Ends a visit with another page. */
export class OtherPage extends Error {
  readonly page: Page;

  constructor(page: Page) {
    super(page.title);
    this.page = page;
  }
}

/** The page that a visit ends with which a handler broke off. */
export function errorPage(error: unknown): Response {
  return error instanceof OtherPage ? pageResponse(error.page) : failurePage(500);
}

/** A page that says no more than that it did not work. */
export function failurePage(status: number): Response {
  return pageResponse(plainPage(status, 'That did not work', 'Go back and try again.'));
}

/** The session of a page's address. Ends the visit for an address that was not given out, or is too old. */
export function visitedSession({ service, id, token, now }: Visit, page: PageName): Session {
  if (!isPageAddress(service, page, id, token)) throw new OtherPage(NO_SUCH_PAGE);
  return liveSession(service, id, now);
}

/** A session by its id alone. Ends the visit when there is none, or none any more. */
export function liveSession({ state }: Service, id: string, now: number): Session {
  const session = findSession(state.world, id, now);
  if (session !== undefined && !state.world.deleted) return session;
  throw new OtherPage(state.world.sessions.find(id) === undefined ? NO_SUCH_PAGE : EXPIRED);
}

/** Reads a form that a browser posts. */
export async function readForm({ request }: Visit): Promise<URLSearchParams> {
  return new URLSearchParams(await request.text());
}

const NO_SUCH_PAGE = plainPage(404, 'No such page', 'Check that the whole address was copied.');

const EXPIRED = plainPage(
  410,
  'This page has expired',
  'Go back to the merchant and begin anew. Nothing was charged.',
);

function plainPage(status: number, title: string, text: string): Page {
  return {
    status,
    title,
    main: html`<h1>${title}</h1>
      <p>${text}</p>`,
  };
}

/** A page of the card issuer's access control server, which the sandbox serves too. */
export type PageName = 'challenge' | 'method';

// Where pages of the access control server are.
const PAGE_PATH = '/acs/';

/** The address of a session's challenge page. What it carries cannot be guessed; a browser needs no key. */
export function challengeAddress(service: Service, session: Session): string {
  return pageAddress(service, 'challenge', session);
}

/** The address of a session's method page. */
export function methodAddress(service: Service, session: Session): string {
  return pageAddress(service, 'method', session);
}

/** The address that is told when the method is completed. */
export function notificationAddress(service: Service, session: Session): string {
  return `${service.origin()}/3ds/sessions/${session.id}/method-notification`;
}

/** Whether a page's address carries what it must. */
function isPageAddress(service: Service, page: PageName, session: string, token: string): boolean {
  const given = Buffer.from(token);
  const right = Buffer.from(pageToken(service, page, session));
  return given.length === right.length && timingSafeEqual(given, right);
}

// In the path, since a query that looks signed is hidden wherever addresses are shown, and people need this one.
// The host is no part of what is signed: any process of the directory serves the page.
function pageAddress(service: Service, page: PageName, { id }: Session): string {
  return `${service.origin()}${PAGE_PATH}${page}/${id}/${pageToken(service, page, id)}`;
}

function pageToken(service: Service, page: PageName, session: string): string {
  const { secret } = service.state.world.start;
  return createHmac('sha256', secret).update(`${page}\n${session}`).digest('base64url');
}
