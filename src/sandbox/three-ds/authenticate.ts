import type { AuthenticateRequest } from '../../schema/three-ds/authenticate.ts';
import { problem, ProblemError } from '../problem.ts';
import type { Call } from '../routes/route.ts';
import { checkAuthenticate } from './check-body.ts';
import type { AuthenticationEvent, ShownPurchase } from './events.ts';
import { scenarioOf } from './scenarios.ts';
import type { Session } from './sessions.ts';

/**
 * Authenticates a session by a request's body. Throws a 400 with every violation, a 409 for a session that was
 * authenticated before, a 424 or 500 where the card's scenario is such an error: those leave the session as it was.
 */
export async function authenticate(
  { service, key, now, json }: Call,
  session: Session,
): Promise<AuthenticationEvent> {
  const request = checkAuthenticate(await json(), session.created.sessionType);
  if (session.authentication !== undefined)
    throw new ProblemError(problem(409, 'Conflict', 'The 3DS session is authenticated already.'));
  const failure = FAILURES[scenarioOf(session.created.scenario).breaks ?? 'nothing'];
  if (failure !== undefined) throw new ProblemError(failure);
  const { authentication_type, challenge_preference } = request;
  const isMerchant = session.created.sessionType === 'merchant';
  const event: AuthenticationEvent = {
    type: '3ds-authentication',
    at: now,
    session: session.id,
    application: key.application,
    authenticationType: authentication_type,
    ...(challenge_preference !== undefined && { preference: challenge_preference }),
    decoupled: request.request_decoupled_challenge ?? isMerchant,
    shown: shownOf(request),
  };
  service.state.record(event);
  return session.authentication ?? event;
}

const FAILURES = {
  'directory-server': problem(
    424,
    'Failed Dependency',
    'The directory server answered with an error. Create a new session to try again.',
  ),
  '3ds-server': problem(500, 'Internal Server Error', 'The 3DS server failed.'),
  nothing: undefined,
};

const LONGEST_NAME = 60;

function shownOf({ merchant_info, requestor_info, purchase_info }: AuthenticateRequest): ShownPurchase {
  const merchant = (merchant_info?.name ?? requestor_info.name).slice(0, LONGEST_NAME);
  const { amount, exponent = '0', currency = '' } = purchase_info ?? {};
  return amount === undefined
    ? { merchant }
    : { merchant, amount: amountText(amount, Number(exponent), currency) };
}

function amountText(amount: string, exponent: number, currency: string): string {
  const digits = amount
    .replace(/^0+/, '')
    .slice(0, 48)
    .padStart(exponent + 1, '0');
  const whole = digits.slice(0, digits.length - exponent);
  const number = exponent === 0 ? whole : `${whole}.${digits.slice(-exponent)}`;
  return `${number} ${CURRENCIES[currency] ?? `(currency ${currency})`}`;
}

// ISO 4217; others are shown by their number.
const CURRENCIES: Readonly<Record<string, string>> = {
  '036': 'AUD',
  '124': 'CAD',
  '392': 'JPY',
  '756': 'CHF',
  '826': 'GBP',
  '840': 'USD',
  '978': 'EUR',
};
