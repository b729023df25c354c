import { randomUUID } from 'node:crypto';
import { ownMember } from '../../schema/own-member.ts';
import { createSessionSchema } from '../../schema/three-ds/session.ts';
import type { SessionType } from '../../schema/three-ds/values.ts';
import { invalid, invalidFields, notFound, problem } from '../problem.ts';
import type { ApiRoute, Call } from '../endpoint.ts';
import type { EventOf } from '../state/events.ts';
import { findSession, type Session, type World } from '../state/world.ts';
import { authenticate, postedDevice } from '../three-ds/authenticate.ts';
import { challengeResultView, createdView, isHidden, resultView, sessionView } from '../three-ds/view.ts';
import { type Card, findCard, findIntentCard } from '../vault/cards.ts';
import { NETWORKS } from '../seed/test-cards.ts';

const ENTITY_TYPE = 'threeds_session';

const NAMES: readonly Named[] = ['token_id', 'token_intent_id', 'pan'];

/** Endpoints of 3-D Secure. An expired session is a 404. */
export const THREE_DS_ROUTES: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/3ds/sessions',
    permission: '3ds:session:create',
    audit: { entityType: ENTITY_TYPE, noun: '3DS session', operation: 'create' },
    status: 201,
    handle: createSession,
  },
  {
    method: 'GET',
    path: '/3ds/sessions/:id',
    permission: '3ds:session:read',
    audit: { entityType: ENTITY_TYPE, noun: '3DS session', operation: 'read' },
    handle: (call) => sessionView(call.service, sessionOf(call), call.now),
  },
  {
    method: 'POST',
    path: '/3ds/sessions/:id/authenticate',
    permission: '3ds:session:authenticate',
    audit: { entityType: ENTITY_TYPE, noun: '3DS session', operation: 'update' },
    handle: authenticated,
  },
  {
    method: 'GET',
    path: '/3ds/sessions/:id/challenge-result',
    permission: '3ds:session:authenticate',
    audit: { entityType: ENTITY_TYPE, noun: '3DS challenge result', operation: 'read' },
    handle: challengeResult,
  },
];

async function authenticated(call: Call) {
  const { service, now } = call;
  const session = sessionOf(call);
  const authentication = await authenticate(call, session);
  return resultView({ service, session, authentication, now });
}

function challengeResult(call: Call) {
  const { service, now } = call;
  const session = sessionOf(call);
  const { authentication } = session;
  const isThere = authentication !== undefined && !isHidden({ service, session, authentication, now });
  if (!isThere) throw notFound('A challenge result of the 3DS session');
  return challengeResultView({ service, session, authentication, now });
}

function sessionOf({ service, params, now }: Call): Session {
  const session = findSession(service.state.world, params['id'], now);
  if (session === undefined) throw notFound('The 3DS session');
  return session;
}

/** Creates a session from a request's body. Throws a 400 for an invalid body, a 422 for an unsupported network. */
async function createSession({ service, key, now, json, created }: Call) {
  const body = await json();
  const { sessionType, named, token } = readBody(body);
  const posted = postedDevice(body);
  const card = cardOf(service.state.world, named, token, now);
  if (ownMember(NETWORKS, card.network) === undefined)
    throw problem(422, "The card's network takes no part in 3-D Secure.");
  const nonce = randomUUID();
  const { network, lastFour, scenario } = card;
  const { sessions } = service.state.record({
    type: '3ds-session',
    at: now,
    nonce,
    application: key.application,
    sessionType,
    named,
    token,
    network,
    lastFour,
    scenario,
    ...(posted && { posted }),
  });
  const session = sessions.createdWith(nonce);
  created(session.id);
  return createdView(service, session);
}

type Named = EventOf<'3ds-session'>['named'];

function readBody(body: unknown): { sessionType: SessionType; named: Named; token: string } {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalid('body', 'Must be an object.');
  const broken: [path: string, message: string][] = [];
  const { type } = createSessionSchema.shape;
  const parsed = type.safeParse(Reflect.get(body, 'type'));
  if (!parsed.success) broken.push(['type', `Must be one of ${type.options.join(', ')}.`]);
  const given = NAMES.filter((name) => (Reflect.get(body, name) ?? undefined) !== undefined);
  const [named = 'token_id'] = given;
  const token: unknown = Reflect.get(body, named);
  if (given.length === 0) broken.push(['token_id', 'One of token_id and token_intent_id is required.']);
  else if (given.length > 1) broken.push([named, 'Only one of token_id, token_intent_id and pan is allowed.']);
  else if (typeof token !== 'string') broken.push([named, 'Must be a string.']);
  if (!parsed.success || typeof token !== 'string' || broken.length > 0) throw invalidFields(broken);
  return { sessionType: parsed.data, named, token };
}

function cardOf(world: World, named: Named, token: string, now: number): Card {
  const isIntent = named === 'token_intent_id';
  const card = isIntent ? findIntentCard(world, token) : findCard(world, token, now);
  if (card !== undefined) return card;
  throw invalid(named, `There is no such card token${isIntent ? ' intent' : ''}.`);
}
