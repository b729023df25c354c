import { html } from 'hono/html';
import { isObject, parsedJson } from '../../../schema/guards.ts';
import type { BrowserDetails } from '../../state/events.ts';
import type { Session } from '../../state/world.ts';
import {
  liveSession,
  notificationAddress,
  OtherPage,
  type Page,
  pageResponse,
  plainPage,
  readForm,
  redirect,
  type Visit,
  visitedSession,
} from './page.ts';

/** Shows the method page: one button does what an SDK does unseen. */
export function showMethod(visit: Visit): Promise<Response> {
  return pageResponse(methodPage(visitedSession(visit, 'method')));
}

/** Records a browser's details, and makes it post its form to the notification address. */
export async function collectMethod(visit: Visit): Promise<Response> {
  await readForm(visit);
  const session = visitedSession(visit, 'method');
  const { service, now } = visit;
  if (session.visit === undefined)
    service.state.record({ type: '3ds-method', at: now, session: session.id, browser: detailsOf(visit) });
  return redirect(307, notificationAddress(service, session));
}

/** Records that the method is completed. It needs no key: the form names the session. */
export async function notifyMethod(visit: Visit): Promise<Response> {
  const { service, id, now } = visit;
  const form = await readForm(visit);
  const session = liveSession(service, id, now);
  if (!namesSession(form, session)) throw new OtherPage(NOT_A_NOTIFICATION);
  if (session.notified === undefined) service.state.record({ type: '3ds-method', at: now, session: id });
  return pageResponse(NOTIFIED);
}

const NOT_A_NOTIFICATION = plainPage(
  400,
  'Not a notification',
  'The form must hold threeDSMethodData that names the session.',
);

const NOTIFIED: Page = {
  status: 200,
  title: 'Details received',
  main: html`<h1>Details received</h1>
    <p role="status">You can close this page.</p>`,
};

// Long enough for any browser.
const MAX_DETAIL_LENGTH = 2048;

function detailsOf({ request: { headers }, remoteAddress }: Visit): BrowserDetails {
  const header = (name: string): string => (headers.get(name) ?? '').slice(0, MAX_DETAIL_LENGTH);
  return { accept: header('accept'), address: remoteAddress, userAgent: header('user-agent') };
}

// The field of the method's forms: JSON in base64 that names the session.
const METHOD_FIELD = 'threeDSMethodData';

function methodPage({ id }: Session): Page {
  const data = Buffer.from(JSON.stringify({ threeDSServerTransID: id })).toString('base64url');
  return {
    status: 200,
    title: 'Device details',
    main: html`<h1>Device details</h1>
      <p>
        Before it decides, your bank checks what your browser says of itself: its name, its address and the kinds of
        page it accepts.
      </p>
      <form method="post">
        <input type="hidden" name="${METHOD_FIELD}" value="${data}" />
        <div class="buttons"><button class="first">Send these details</button></div>
      </form>
      <p class="hint">A merchant’s page does this unseen, by posting a form to this address.</p>`,
  };
}

function namesSession(form: URLSearchParams, session: Session): boolean {
  const data = parsedJson(Buffer.from(form.get(METHOD_FIELD) ?? '', 'base64').toString());
  return isObject(data) && data['threeDSServerTransID'] === session.id;
}
