import type { AuthenticateRequest } from '../../schema/three-ds/authenticate.ts';
import { currencyName } from '../../schema/three-ds/currencies.ts';
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

const DIRECTORY_SERVER_ERROR = problem(424, 'Failed Dependency', 'Create a new session to try again.');

const FAILURES = {
  // What the other party said is nested twice.
  'directory-server': {
    ...DIRECTORY_SERVER_ERROR,
    body: Object.assign({}, DIRECTORY_SERVER_ERROR.body, {
      error: {
        error: {
          message: 'The directory server returned an error.',
          detail: 'The card range is not available for now.',
        },
      },
    }),
  },
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
  return `${number} ${currencyName(currency) ?? `(currency ${currency})`}`;
}
