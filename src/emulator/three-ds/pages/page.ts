import { html, type Html } from '../../markup.ts';
import { Problem } from '../../problem.ts';
import { readText, type ServiceRequest } from '../../request.ts';
import { type ServiceResponse, textResponse } from '../../response.ts';
import type { Service } from '../../service.ts';
import { type Session, findSession } from '../../state/world.ts';
import { isEqual, sign } from '../../store/files.ts';

/** A page of the access control server. */
export interface Page {
  readonly status: number;
  readonly title: string;
  readonly main: Html;
}

/** Returns the response with a page, which runs no script and loads nothing. */
export function pageResponse({ status, title, main }: Page): ServiceResponse {
  const headers = { 'content-type': 'text/html; charset=utf-8', ...POLICIES };
  return textResponse(status, documentOf(title, main).text, headers);
}

/** Redirects a browser: with 303 to request the address, with 307 to post its form there again. */
export function redirect(status: 303 | 307, address: string): ServiceResponse {
  return textResponse(status, '', { location: address, ...POLICIES });
}

// Merchants show these pages in a frame, so framing is not restricted.
const POLICIES = {
  'content-security-policy': "default-src 'none'; form-action 'self'; base-uri 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

function documentOf(title: string, main: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} – Sandbox Bank</title>
      </head>
      <body>
        <main>${main}</main>
      </body>
    </html> `;
}

/** A request for a page of the access control server. */
export interface Visit {
  readonly service: Service;
  readonly request: ServiceRequest;
  readonly id: string;
  /** The secret part of the path, if any. */
  readonly token: string;
  /** The sandbox's time at arrival. */
  readonly now: number;
}

/** Thrown to end a visit with another page. */
export class OtherPage extends Error {
  readonly page: Page;

  constructor(page: Page) {
    super(page.title);
    this.page = page;
  }
}

/** Returns the page for an error that a handler threw. */
export function errorPage(error: unknown): ServiceResponse {
  if (error instanceof OtherPage) return pageResponse(error.page);
  const status = error instanceof Problem ? error.response.status : 500;
  return pageResponse(plainPage(status, 'That did not work', 'Go back and try again.'));
}

/** Finds the session of a page's address. Throws `OtherPage` if the address is forged or too old. */
export function visitedSession({ service, id, token, now }: Visit, page: PageName): Session {
  if (!isEqual(token, pageToken(service, page, id))) throw new OtherPage(plainPage(404, ...NO_SUCH_PAGE));
  return liveSession(service, id, now);
}

/** Finds a session by its id. Throws `OtherPage` if the session is unknown or has expired. */
export function liveSession({ state }: Service, id: string, now: number): Session {
  const session = findSession(state.world, id, now);
  if (session !== undefined && !state.world.deleted) return session;
  throw new OtherPage(
    state.world.sessions.find(id) === undefined ? plainPage(404, ...NO_SUCH_PAGE) : plainPage(410, ...EXPIRED),
  );
}

const MAX_FORM_BYTES = 1_000_000;

export async function readForm({ request }: Visit): Promise<URLSearchParams> {
  return new URLSearchParams(await readText(request, MAX_FORM_BYTES));
}

const NO_SUCH_PAGE = ['No such page', 'Check that the whole address was copied.'] as const;
const EXPIRED = ['This page has expired', 'Go back to the merchant and start again. Nothing was charged.'] as const;

export function plainPage(status: number, title: string, text: string): Page {
  return {
    status,
    title,
    main: html`<h1>${title}</h1>
      <p>${text}</p>`,
  };
}

/** A page of the card issuer's access control server. */
export type PageName = 'challenge' | 'method';

/**
 * Returns the address of a session's page. The address cannot be guessed, so that a browser needs no key. The secret is in
 * the path, since svc hides queries that look signed. Any process of the directory can serve the page.
 */
export function pageAddress(service: Service, page: PageName, { id }: Session): string {
  return `${service.origin()}/acs/${page}/${id}/${pageToken(service, page, id)}`;
}

export function notificationAddress(service: Service, session: Session): string {
  return `${service.origin()}/3ds/sessions/${session.id}/method-notification`;
}

function pageToken(service: Service, page: PageName, session: string): string {
  return sign(`${page}\n${session}`, service.state.world.start.secret);
}
