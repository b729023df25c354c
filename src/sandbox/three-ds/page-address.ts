import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Service } from '../service.ts';
import type { Session } from './sessions.ts';

/** A page of the card issuer's access control server, which the sandbox serves too. */
export type Page = 'challenge' | 'method';

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
export function isPageAddress(service: Service, page: Page, session: string, token: string): boolean {
  const given = Buffer.from(token);
  const right = Buffer.from(pageToken(service, page, session));
  return given.length === right.length && timingSafeEqual(given, right);
}

// In the path, since a query that looks signed is hidden wherever addresses are shown, and people need this one.
// The host is no part of what is signed: any process of the directory serves the page.
function pageAddress(service: Service, page: Page, { id }: Session): string {
  return `${service.origin()}${PAGE_PATH}${page}/${id}/${pageToken(service, page, id)}`;
}

function pageToken(service: Service, page: Page, session: string): string {
  const { secret } = service.state.world.start;
  return createHmac('sha256', secret).update(`${page}\n${session}`).digest('base64url');
}
