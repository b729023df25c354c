import { type AuthenticateRequest, authenticateSchema, MAX_EXTENSIONS } from '../../schema/three-ds/authenticate.ts';
import { ownValue } from '../../schema/three-ds/body-values.ts';
import { fieldAt, type FieldType } from '../../schema/three-ds/fields.ts';
import { missingFields } from '../../schema/three-ds/needs.ts';
import { amountText, currencyOf } from '../../schema/three-ds/tables.ts';
import { type SessionType, sessionTypesOf } from '../../schema/three-ds/values.ts';
import { invalid, invalidFields, type Problem, problem } from '../problem.ts';
import type { Call } from '../endpoint.ts';
import type { EventOf, PostedDevice } from '../state/events.ts';
import type { Session } from '../state/world.ts';
import { scenarioOf } from '../seed/test-cards.ts';
import { forcedOutcome } from './forced-outcome.ts';
import { decidesOutcome } from './outcome.ts';

/**
 * Authenticates a session with a request's body. Throws a 400 with every violation, a 409 for a session that was
 * authenticated before, and a 424 or 500 if the card's scenario is this error, which does not change the session.
 */
export async function authenticate(call: Call, session: Session): Promise<EventOf<'3ds-authentication'>> {
  const { service, key, now, json } = call;
  const body = await json();
  const posted = postedDevice(body);
  const request = checkAuthenticate(body, session.created.sessionType);
  if (session.authentication !== undefined) throw problem(409, 'The 3DS session is authenticated already.');
  const { world } = service.state;
  const forced = forcedOutcome(world, [...world.outcomes, ...service.outcomes], session);
  const { breaks } = scenarioOf(session.created.scenario);
  if (breaks !== undefined && (forced === undefined || !decidesOutcome(forced))) throw failure(breaks);
  const { authentication_type, challenge_preference, decoupled_challenge_max_time = 0, message_extensions } = request;
  const decoupled = request.request_decoupled_challenge ?? session.created.sessionType === 'merchant';
  const event: EventOf<'3ds-authentication'> = {
    type: '3ds-authentication',
    at: now,
    session: session.id,
    application: key.application,
    authenticationType: authentication_type,
    ...(challenge_preference !== undefined && { preference: challenge_preference }),
    decoupled,
    ...(decoupled && { decoupledLimit: Math.min(decoupled_challenge_max_time, MAX_DECOUPLED_MINUTES) * 60_000 }),
    shown: shownOf(request),
    ...(hasOtherExponent(request) && { otherExponent: true }),
    ...(posted && { posted }),
    ...(message_extensions && { extensions: message_extensions }),
    ...(forced && { forced }),
  };
  service.state.record(event);
  return session.authentication ?? event;
}

// The protocol allows seven days.
const MAX_DECOUPLED_MINUTES = 10_080;

/** Reads the device details of a body. These members are documented only for responses. */
export function postedDevice(body: unknown): PostedDevice | undefined {
  const device = ownValue(body, ['device']);
  const info = ownValue(body, ['device_info']);
  const posted = {
    ...(typeof device === 'string' && { device }),
    ...(typeof info === 'object' && info !== null && !Array.isArray(info) && { device_info: { ...info } }),
  };
  return Object.keys(posted).length > 0 ? posted : undefined;
}

function failure(breaks: 'directory-server' | '3ds-server'): Problem {
  if (breaks === '3ds-server') return problem(500, 'The 3DS server failed.');
  // The service nests the error of the other party twice.
  const error = {
    message: 'The directory server returned an error.',
    detail: 'The card range is not available for now.',
  };
  return problem(424, 'Create a new session to try again.', { members: { error: { error } } });
}

const MAX_NAME_LENGTH = 60;

function shownOf({ merchant_info, requestor_info, purchase_info }: AuthenticateRequest) {
  const merchant = (merchant_info?.name ?? requestor_info.name).slice(0, MAX_NAME_LENGTH);
  const { amount, exponent = '0', currency = '' } = purchase_info ?? {};
  return amount === undefined ? { merchant } : { merchant, amount: amountText(amount, Number(exponent), currency) };
}

function hasOtherExponent({ purchase_info: { currency = '', exponent } = {} }: AuthenticateRequest): boolean {
  const units = currencyOf(currency)?.units;
  return units !== undefined && exponent !== undefined && Number(exponent) !== units;
}

/** Checks the body of an authenticate request, without unknown members. Throws a 400 with every violation. */
function checkAuthenticate(body: unknown, sessionType: SessionType): AuthenticateRequest {
  const list = ownValue(body, ['message_extensions']);
  if (Array.isArray(list) && list.length > MAX_EXTENSIONS)
    throw invalid('message_extensions', `Must have at most ${MAX_EXTENSIONS} items.`);
  removeUnknownMembers(body);
  const parsed = authenticateSchema.safeParse(body);
  const broken = [
    ...(parsed.success ? [] : brokenFields(parsed.error.issues, body)),
    ...brokenConditions(body, sessionType),
  ];
  if (broken.length > 0 || !parsed.success) throw invalidFields(broken);
  return parsed.data;
}

function removeUnknownMembers(body: unknown): void {
  for (const issue of authenticateSchema.safeParse(body).error?.issues ?? []) {
    if (issue.code !== 'unrecognized_keys') continue;
    const holder = ownValue(body, issue.path.map(String));
    if (typeof holder !== 'object' || holder === null) continue;
    for (const key of issue.keys) Reflect.deleteProperty(holder, key);
  }
}

function brokenFields(issues: readonly { readonly path: readonly PropertyKey[] }[], body: unknown): Broken[] {
  return issues.map(({ path }) => {
    const parts = path.map(String);
    const isMissing = ownValue(body, parts) === undefined;
    return [parts.join('.') || 'body', isMissing ? 'Is required.' : `Must be ${described(parts)}.`];
  });
}

/** Describes the field at a path, in words that follow "must be". */
function described(parts: readonly string[]): string {
  const field = fieldAt(parts.join('.'));
  if (field?.choices !== undefined) return `one of ${field.choices.join(', ')}`;
  return (field && (KINDS[field.kind] ?? field.description)) || 'of another form';
}

// The descriptions of these types explain their meaning and do not fit behind "must be".
const KINDS: Readonly<Partial<Record<FieldType, string>>> = {
  flag: 'true or false',
  object: 'an object',
  free: 'an object',
  list: 'an array',
};

/** A member that breaks a rule between fields, and the message for it. */
type Broken = readonly [path: string, message: string];

/** Returns every broken rule between the fields of an authenticate body. */
function brokenConditions(body: unknown, sessionType: SessionType): Broken[] {
  const type = ownValue(body, ['authentication_type']);
  const category = ownValue(body, ['authentication_category']);
  const decoupled = ownValue(body, ['request_decoupled_challenge']);
  const allowed = sessionTypesOf(type);
  const isForbidden = allowed.length > 0 && !allowed.includes(sessionType);
  const forbidden: Broken = ['authentication_type', `Is not allowed for sessions of type ${sessionType}.`];
  const missing = missingFields(body, { category, type, decoupled, sessionType });
  return [
    ...(isForbidden ? [forbidden] : []),
    ...missing.map(({ path, when }): Broken => [path, `Is required when ${when.words}.`]),
  ];
}
