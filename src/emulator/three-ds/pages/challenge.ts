import { isObject, parsedJson } from '../../../schema/json-value.ts';
import { html, type Html } from '../../markup.ts';
import type { ServiceResponse } from '../../response.ts';
import type { Route } from '../../router.ts';
import type { Service } from '../../service.ts';
import type { EventOf } from '../../state/events.ts';
import type { Session } from '../../state/world.ts';
import { MAX_ATTEMPTS, type AuthenticationOutcome, authenticationOutcomeOf } from '../outcome.ts';
import {
  errorPage,
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

/** Routes the pages of the card issuer's access control server, and the notification of a completed method. */
export function pageRoutes(service: Service): readonly Route[] {
  const page = (
    method: 'GET' | 'POST',
    path: string,
    show: (visit: Visit) => ServiceResponse | Promise<ServiceResponse>,
  ): Route => ({
    method,
    path,
    async respond(request, { id = '', token = '' }) {
      try {
        return await show({ service, request, id, token, now: service.state.now() });
      } catch (error) {
        return errorPage(error);
      }
    },
  });
  return [
    page('GET', '/acs/challenge/:id/:token', showChallenge),
    page('POST', '/acs/challenge/:id/:token', submitChallenge),
    page('GET', '/acs/method/:id/:token', showMethod),
    page('POST', '/acs/method/:id/:token', collectMethod),
    page('POST', '/3ds/sessions/:id/method-notification', notifyMethod),
  ];
}

/** Shows the method page, with a button that posts the form which an SDK posts invisibly. */
function showMethod(visit: Visit): ServiceResponse {
  return pageResponse(methodPage(visitedSession(visit, 'method')));
}

/** Records a browser's details, and redirects the browser to post its form to the notification address. */
async function collectMethod(visit: Visit): Promise<ServiceResponse> {
  await readForm(visit);
  const session = visitedSession(visit, 'method');
  const { service, now } = visit;
  if (session.visit === undefined)
    service.state.record({ type: '3ds-method', at: now, session: session.id, browser: detailsOf(visit) });
  return redirect(307, notificationAddress(service, session));
}

/** Records that the method is completed. This needs no key, because the form names the session. */
async function notifyMethod(visit: Visit): Promise<ServiceResponse> {
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
  'The form must contain threeDSMethodData that names the session.',
);

const NOTIFIED: Page = {
  status: 200,
  title: 'Details received',
  main: html`<h1>Details received</h1>
    <p role="status">You can close this page.</p>`,
};

// Long enough for any browser.
const MAX_DETAIL_LENGTH = 2048;

function detailsOf({ request: { headers, remoteAddress } }: Visit) {
  const header = (name: string): string => (headers[name] ?? '').slice(0, MAX_DETAIL_LENGTH);
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
      <p>A merchant’s page sends these unseen, by posting a form to this address.</p>
      <form method="post">
        <input type="hidden" name="${METHOD_FIELD}" value="${data}" />
        <button>Send these details</button>
      </form>`,
  };
}

function namesSession(form: URLSearchParams, session: Session): boolean {
  const data = parsedJson(Buffer.from(form.get(METHOD_FIELD) ?? '', 'base64').toString());
  return isObject(data) && data['threeDSServerTransID'] === session.id;
}

/** The right code on every challenge page, which the page shows. */
export const RIGHT_CODE = '123456';

function showChallenge(visit: Visit): ServiceResponse {
  return pageResponse(challengePage(challengedIn(visit)));
}

/** Accepts a reply to a challenge, and redirects the browser to the page, so that "back" does not post the reply again. */
async function submitChallenge(visit: Visit): Promise<ServiceResponse> {
  const form = await readForm(visit);
  const challenged = challengedIn(visit);
  const { session, outcome } = challenged;
  if (outcome.status !== 'challenge') throw new OtherPage(settledPage(outcome, 409));
  const answer = replyIn(form, outcome.challenge?.type === 'out-of-band');
  if (answer === undefined) throw new OtherPage(challengePage(challenged, true));
  const { service, request, now } = visit;
  service.state.record({ type: '3ds-challenge', at: now, session: session.id, answer });
  const { pathname, search } = request.url;
  return redirect(303, pathname + search);
}

function challengedIn(visit: Visit) {
  const session = visitedSession(visit, 'challenge');
  const { authentication } = session;
  // Only the response to an authentication contains the page's address.
  if (authentication === undefined) throw new Error('a challenge page without a challenge');
  return { session, authentication, outcome: authenticationOutcomeOf(session, authentication, visit.now) };
}

/** Returns the reply in a form; undefined for a form without a reply. */
function replyIn(form: URLSearchParams, isApp: boolean): EventOf<'3ds-challenge'>['answer'] | undefined {
  const answer = form.get('answer');
  if (answer === 'cancel') return answer;
  if (isApp) return answer === 'approve' || answer === 'decline' ? answer : undefined;
  // A copied code often contains spaces.
  const code = (form.get('code') ?? '').replaceAll(/\s/g, '');
  if (code === '') return undefined;
  return code === RIGHT_CODE ? 'right-code' : 'wrong-code';
}

/** Returns the page for the current state of a challenge. `missing` is set after a form without a code. */
function challengePage(
  { session, authentication: { shown }, outcome }: ReturnType<typeof challengedIn>,
  missing = false,
): Page {
  if (outcome.status !== 'challenge') return settledPage(outcome);
  const title = shown.amount === undefined ? 'Confirm that it is you' : 'Confirm your payment';
  const { type, attempts = 0 } = outcome.challenge ?? {};
  const amount =
    shown.amount !== undefined &&
    html`<dt>Amount</dt>
      <dd>${shown.amount}</dd>`;
  const main = html`<h1>${title}</h1>
    <dl>
      <dt>Merchant</dt>
      <dd><bdi>${shown.merchant}</bdi></dd>
      ${amount}
      <dt>Card</dt>
      <dd>ending in ${session.created.lastFour}</dd>
    </dl>
    ${type === 'out-of-band' ? APP_FORM : codeForm(type === 'static' ? 'password' : 'code', attempts, missing)}`;
  return { status: missing ? 400 : 200, title, main };
}

function codeForm(what: 'code' | 'password', attempts: number, missing: boolean): Html {
  const wrong = missing ? `Enter the ${what}.` : attempts > 0 && `That ${what} is not right: attempt ${attempts}.`;
  const state = wrong ? html` aria-invalid="true" aria-describedby="wrong"` : html``;
  return html`<p>The right ${what} is <b>${RIGHT_CODE}</b>; ${MAX_ATTEMPTS} wrong ones end the challenge.</p>
    ${wrong && html`<p id="wrong" role="alert">${wrong}</p>`}
    <form method="post">
      <label>
        ${what === 'code' ? 'Code from your bank' : 'Password of your card'}
        <input name="code" maxlength="20" required${state} />
      </label>
      <button name="answer" value="code">Confirm</button>
      <button name="answer" value="cancel" formnovalidate>Cancel</button>
    </form>`;
}

const APP_FORM = html`<p>Your bank asks you to confirm this in its app. These buttons stand for it.</p>
  <form method="post">
    <button name="answer" value="approve">Approve in the bank’s app</button>
    <button name="answer" value="decline">Decline in the bank’s app</button>
    <button name="answer" value="cancel">Cancel</button>
  </form>`;

/** Returns the page of a challenge that is over; with 409 it refuses an answer that comes too late. */
function settledPage({ status, reason, cancelReason }: AuthenticationOutcome, code: 200 | 409 = 200): Page {
  const why = [reason, cancelReason].filter(Boolean).join(', ');
  return {
    status: code,
    title: 'Challenge completed',
    main: html`<h1>Challenge completed</h1>
      ${code === 409 && html`<p>This answer came after the end of the challenge and changed nothing.</p>`}
      <p role="status">Its result is <b>${status}</b>${why !== '' && ` (${why})`}. You can close this page.</p>`,
  };
}
