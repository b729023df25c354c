import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Service } from '../../service.ts';
import type { Session } from '../sessions.ts';
import { html, type Page, pageResponse } from './html.ts';

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
  const { sessions, deleted } = state.world;
  const session = sessions.find(id, now);
  if (session !== undefined && !deleted) return session;
  throw new OtherPage(sessions.findEver(id) === undefined ? NO_SUCH_PAGE : EXPIRED);
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
