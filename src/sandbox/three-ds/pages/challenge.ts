import { html } from 'hono/html';
import type { ChallengeReply } from '../../state/events.ts';
import { MAX_ATTEMPTS, type Outcome, outcomeOf } from '../outcome.ts';
import {
  type Html,
  OtherPage,
  type Page,
  pageResponse,
  readForm,
  redirect,
  type Visit,
  visitedSession,
} from './page.ts';

/** The code that is right on every challenge page. The page shows it. */
export const RIGHT_CODE = '123456';

/** Shows a challenge. */
export function showChallenge(visit: Visit): Promise<Response> {
  return pageResponse(challengePage(challengedIn(visit)));
}

/** Takes a reply to a challenge. The browser is then sent to the page again, so that going back posts nothing. */
export async function submitChallenge(visit: Visit): Promise<Response> {
  const form = await readForm(visit);
  const challenged = challengedIn(visit);
  const { session, outcome } = challenged;
  if (outcome.status !== 'challenge') throw new OtherPage(ALREADY_ANSWERED);
  const answer = replyIn(form, outcome.challenge?.type === 'out-of-band');
  if (answer === undefined) throw new OtherPage(challengePage(challenged, true));
  const { service, request, now } = visit;
  service.state.record({ type: '3ds-challenge', at: now, session: session.id, answer });
  const { pathname, search } = new URL(request.url);
  return redirect(303, pathname + search);
}

function challengedIn(visit: Visit) {
  const session = visitedSession(visit, 'challenge');
  const { authentication } = session;
  // The address is not given out before.
  if (authentication === undefined) throw new Error('a challenge page without a challenge');
  return { session, authentication, outcome: outcomeOf(session, authentication, visit.now) };
}

/** Undefined for a form without a reply. */
function replyIn(form: URLSearchParams, isApp: boolean): ChallengeReply | undefined {
  const answer = form.get('answer');
  if (answer === 'cancel') return answer;
  if (isApp) return answer === 'approve' || answer === 'decline' ? answer : undefined;
  // A code copied from elsewhere often comes with spaces.
  const code = (form.get('code') ?? '').replaceAll(/\s/g, '');
  if (code === '') return undefined;
  return code === RIGHT_CODE ? 'right-code' : 'wrong-code';
}

/** `missing`: a form came without a code. */
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
    ${type === 'out-of-band' ? APP_FORM : codeForm(attempts, missing)}`;
  return { status: missing ? 400 : 200, title, main };
}

const ALREADY_ANSWERED: Page = {
  status: 409,
  title: 'Already answered',
  main: html`<h1>Already answered</h1>
    <p>This question was answered before. The first answer counts; nothing was changed now.</p>
    <p>You can close this page.</p>`,
};

function codeForm(attempts: number, missing: boolean): Html {
  const wrong = wrongText(attempts, missing);
  const state = wrong
    ? html` aria-invalid="true" aria-describedby="wrong hint" autofocus`
    : html` aria-describedby="hint"`;
  return html`<form method="post">
      <label for="code">Code from your bank</label>
      <input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="20" required${state} />
      ${wrong && html`<p class="wrong" id="wrong" role="alert">${wrong}</p>`}
      <div class="buttons">
        <button class="first" name="answer" value="code">Confirm</button>
        <button name="answer" value="cancel" formnovalidate>Cancel</button>
      </div>
    </form>
    <p class="hint" id="hint">
      In the sandbox the right code is <b>${RIGHT_CODE}</b>. Any other is wrong, and ${MAX_ATTEMPTS} wrong ones end the
      challenge.
    </p>`;
}

function wrongText(attempts: number, missing: boolean): string {
  if (missing) return 'Enter the code.';
  if (attempts === 0) return '';
  const left = MAX_ATTEMPTS - attempts;
  return `That code is not right. You can try ${left === 1 ? 'once' : `${left} times`} more.`;
}

const APP_FORM = html`<p>Your bank asks you to confirm this in its app.</p>
  <form method="post">
    <div class="buttons">
      <button class="first" name="answer" value="approve">Approve in the bank’s app</button>
      <button name="answer" value="decline">Decline in the bank’s app</button>
      <button name="answer" value="cancel">Cancel</button>
    </div>
  </form>
  <p class="hint">The sandbox has no app: these buttons stand for it.</p>`;

function settledPage({ status, reason, cancelReason }: Outcome): Page {
  const [title, text] = settledText(status, cancelReason ?? reason);
  return {
    status: 200,
    title,
    main: html`<h1>${title}</h1>
      <p role="status">${text}</p>
      <p>You can close this page and go back to the merchant.</p>
      <p class="hint">
        In the sandbox: the challenge result now says
        <b>${status}</b>${reason !== undefined && html` (${reason})`}.
      </p>`,
  };
}

function settledText(status: Outcome['status'], why = ''): readonly [title: string, text: string] {
  const text = SETTLED_TEXTS[why];
  if (text !== undefined) return text;
  if (status === 'successful' || status === 'attempted') return ['Thank you', 'Your answer was recorded.'];
  return ['Not confirmed', 'Your bank did not confirm that it is you.'];
}

const SETTLED_TEXTS: Readonly<Record<string, readonly [title: string, text: string]>> = {
  'cardholder-canceled': ['Canceled', 'You canceled. The merchant learns that you were not confirmed.'],
  'acs-timeout': ['Time is up', 'The question was not answered in time.'],
  'max-challenges-exceeded': ['Not confirmed', 'The code was wrong too often.'],
};
