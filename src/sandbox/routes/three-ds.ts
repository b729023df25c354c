import { authenticateSchema } from '../../schema/three-ds/authenticate.ts';
import {
  authenticationResultSchema,
  challengeResultSchema,
  type AuthenticationResult,
  type ChallengeResult,
} from '../../schema/three-ds/authentication.ts';
import {
  createdSessionSchema,
  createSessionSchema,
  threeDsSessionSchema,
  type CreatedSession,
  type ThreeDsSession,
} from '../../schema/three-ds/session.ts';
import { notFound } from '../problem.ts';
import { authenticate } from '../three-ds/authenticate.ts';
import { challengeResultView, resultView } from '../three-ds/authentication-view.ts';
import { createSession } from '../three-ds/create-session.ts';
import { createdView, sessionView } from '../three-ds/session-view.ts';
import type { Session } from '../three-ds/sessions.ts';
import type { ApiRoute, Call } from './route.ts';

const ENTITY_TYPE = '3ds_session';

/** Endpoints of 3-D Secure. An expired session is not there any more: 404. */
export const THREE_DS_ROUTES: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/3ds/sessions',
    summary: 'Create a 3DS session',
    kind: 'private',
    permission: '3ds:session:create',
    audit: { entityType: ENTITY_TYPE, noun: '3DS session', operation: 'create' },
    request: createSessionSchema,
    response: createdSessionSchema,
    status: 201,
    handle: create,
  },
  {
    method: 'GET',
    path: '/3ds/sessions/:id',
    summary: 'Read a 3DS session',
    kind: 'private',
    permission: '3ds:session:read',
    audit: { entityType: ENTITY_TYPE, noun: '3DS session', operation: 'read' },
    response: threeDsSessionSchema,
    status: 200,
    handle: read,
  },
  {
    method: 'POST',
    path: '/3ds/sessions/:id/authenticate',
    summary: 'Authenticate a 3DS session',
    kind: 'private',
    permission: '3ds:session:authenticate',
    audit: { entityType: ENTITY_TYPE, noun: '3DS session', operation: 'update' },
    request: authenticateSchema,
    response: authenticationResultSchema,
    status: 200,
    handle: authenticated,
  },
  {
    method: 'GET',
    path: '/3ds/sessions/:id/challenge-result',
    summary: 'Read what came of a challenge',
    kind: 'private',
    permission: '3ds:session:authenticate',
    audit: { entityType: ENTITY_TYPE, noun: '3DS challenge result', operation: 'read' },
    response: challengeResultSchema,
    status: 200,
    handle: challengeResult,
  },
];

async function create(call: Call): Promise<CreatedSession> {
  const session = await createSession(call);
  call.audit({
    entityType: ENTITY_TYPE,
    entityId: session.id,
    operation: 'create',
    message: '3DS session created',
  });
  return createdView(call.service, session);
}

function read(call: Call): ThreeDsSession {
  return sessionView(call.service, sessionOf(call), call.now);
}

async function authenticated(call: Call): Promise<AuthenticationResult> {
  const { service, now } = call;
  const session = sessionOf(call);
  const authentication = await authenticate(call, session);
  return resultView({ service, session, authentication, now });
}

function challengeResult(call: Call): ChallengeResult {
  const { service, now } = call;
  const session = sessionOf(call);
  if (session.authentication === undefined) throw notFound('A challenge result of the 3DS session');
  return challengeResultView({ service, session, authentication: session.authentication, now });
}

function sessionOf({ service, params, now }: Call): Session {
  const session = service.state.world.sessions.find(params['id'] ?? '', now);
  if (session === undefined) throw notFound('The 3DS session');
  return session;
}
