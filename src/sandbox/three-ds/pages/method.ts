import { notificationAddress } from '../page-address.ts';
import type { BrowserDetails } from '../events.ts';
import { html, sendElsewhere, sendPage, type Page } from './html.ts';
import { methodPage, namesSession, notifiedPage } from './method-page.ts';
import { liveSession, OtherPage, readForm, visitedSession, type Visit } from './serve.ts';

/** Shows the method page. */
export function showMethod(visit: Visit): void {
  sendPage(visit.exchange, methodPage(visitedSession(visit, 'method')));
}

/** Takes a browser's details, and has it send its form on to the notification address. */
export async function collectMethod(visit: Visit): Promise<void> {
  await readForm(visit.exchange);
  const session = visitedSession(visit, 'method');
  const { service, exchange, now } = visit;
  if (session.visit === undefined)
    service.state.record({ type: '3ds-method', at: now, session: session.id, browser: detailsOf(visit) });
  sendElsewhere(exchange, 307, notificationAddress(service, session));
}

/** Takes the notification that the method is completed. It needs no key: its form names the session. */
export async function notifyMethod({ service, exchange, id, now }: Visit): Promise<void> {
  const form = await readForm(exchange);
  const session = liveSession(service, id, now);
  if (!namesSession(form, session)) throw new OtherPage(NOT_A_NOTIFICATION);
  if (session.notified === undefined) service.state.record({ type: '3ds-method', at: now, session: id });
  sendPage(exchange, notifiedPage());
}

const NOT_A_NOTIFICATION: Page = {
  status: 400,
  title: 'Not a notification',
  main: html`<h1>Not a notification</h1>
    <p>The form must hold threeDSMethodData that names the session.</p>`,
};

// Long enough for any browser; a journal is no place for more.
const LONGEST_DETAIL = 2048;

function detailsOf({ exchange: { incoming } }: Visit): BrowserDetails {
  const { headers, socket } = incoming;
  return {
    accept: cut(headers.accept),
    address: socket.remoteAddress ?? '',
    userAgent: cut(headers['user-agent']),
  };
}

function cut(text = ''): string {
  return text.slice(0, LONGEST_DETAIL);
}
