import type { BrowserDetails } from '../../state/events.ts';
import type { Session } from '../../state/world.ts';
import {
  html,
  liveSession,
  notificationAddress,
  OtherPage,
  type Page,
  pageResponse,
  readForm,
  redirect,
  type Visit,
  visitedSession,
} from './page.ts';

/** Shows the method page. */
export function showMethod(visit: Visit): Response {
  return pageResponse(methodPage(visitedSession(visit, 'method')));
}

/** Takes a browser's details, and has it send its form on to the notification address. */
export async function collectMethod(visit: Visit): Promise<Response> {
  await readForm(visit);
  const session = visitedSession(visit, 'method');
  const { service, now } = visit;
  if (session.visit === undefined)
    service.state.record({ type: '3ds-method', at: now, session: session.id, browser: detailsOf(visit) });
  return redirect(307, notificationAddress(service, session));
}

/** Takes the notification that the method is completed. It needs no key: its form names the session. */
export async function notifyMethod(visit: Visit): Promise<Response> {
  const { service, id, now } = visit;
  const form = await readForm(visit);
  const session = liveSession(service, id, now);
  if (!namesSession(form, session)) throw new OtherPage(NOT_A_NOTIFICATION);
  if (session.notified === undefined) service.state.record({ type: '3ds-method', at: now, session: id });
  return pageResponse(notifiedPage());
}

const NOT_A_NOTIFICATION: Page = {
  status: 400,
  title: 'Not a notification',
  main: html`<h1>Not a notification</h1>
    <p>The form must hold threeDSMethodData that names the session.</p>`,
};

// Long enough for any browser; a journal is no place for more.
const LONGEST_DETAIL = 2048;

function detailsOf({ request: { headers }, remoteAddress }: Visit): BrowserDetails {
  return {
    accept: cut(headers.get('accept')),
    address: remoteAddress,
    userAgent: cut(headers.get('user-agent')),
  };
}

function cut(text: string | null): string {
  return (text ?? '').slice(0, LONGEST_DETAIL);
}

// The member of the method's forms: it names the session, in JSON and base64.
const METHOD_FIELD = 'threeDSMethodData';

/** The method page: one button does what an SDK does unseen. */
function methodPage(session: Session): Page {
  const title = 'Device details';
  return {
    status: 200,
    title,
    main: html` <h1>${title}</h1>
      <p>
        Before it decides, your bank looks at what your browser tells of itself: its name, its address and the
        kinds of page it accepts.
      </p>
      <form method="post">
        <input type="hidden" name="${METHOD_FIELD}" value="${methodData(session)}" />
        <div class="buttons"><button class="first">Send these details</button></div>
      </form>
      <p class="hint">A merchant’s page does this unseen, by posting a form to this address.</p>`,
  };
}

/** What a browser sees after the notification. */
function notifiedPage(): Page {
  const title = 'Details received';
  return {
    status: 200,
    title,
    main: html`<h1>${title}</h1>
      <p role="status">You can close this page.</p>`,
  };
}

/** Whether the form of a notification names its session. */
function namesSession(form: URLSearchParams, session: Session): boolean {
  try {
    const data: unknown = JSON.parse(Buffer.from(form.get(METHOD_FIELD) ?? '', 'base64').toString());
    return (
      typeof data === 'object' && data !== null && Reflect.get(data, 'threeDSServerTransID') === session.id
    );
  } catch {
    return false;
  }
}

function methodData({ id }: Session): string {
  return Buffer.from(JSON.stringify({ threeDSServerTransID: id })).toString('base64url');
}
