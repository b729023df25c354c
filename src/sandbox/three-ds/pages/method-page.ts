import type { Session } from '../sessions.ts';
import { html, type Page } from './html.ts';

// The member of the method's forms: it names the session, in JSON and base64.
const METHOD_FIELD = 'threeDSMethodData';

/** The method page: one button does what an SDK does unseen. */
export function methodPage(session: Session): Page {
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
export function notifiedPage(): Page {
  const title = 'Details received';
  return {
    status: 200,
    title,
    main: html`<h1>${title}</h1>
      <p role="status">You can close this page.</p>`,
  };
}

/** Whether the form of a notification names its session. */
export function namesSession(form: URLSearchParams, session: Session): boolean {
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
