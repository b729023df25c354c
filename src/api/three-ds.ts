import type { HttpCore } from '../http/core.ts';
import { type ApiRequest, path } from '../http/request.ts';
import type { AuthenticateRequest } from '../schema/three-ds/authenticate.ts';
import type {
  AuthenticationResult,
  ChallengeResult,
  CreatedSession,
  CreateSession,
  ThreeDsSession,
} from '../schema/three-ds/session.ts';

/** 3-D Secure: sessions for card tokens, their authentication, and what came of a challenge. */
export class ThreeDs {
  readonly #core: HttpCore;

  constructor(core: HttpCore) {
    this.#core = core;
  }

  /**
   * `POST /3ds/sessions`, permission 3ds:session:create.
   * @throws SvcError `outcome_unknown` when no clear answer came: a session may exist
   */
  create(session: CreateSession): Promise<CreatedSession> {
    return this.#core.call(createSessionRequest(session));
  }

  /** `GET /3ds/sessions/{id}`, permission 3ds:session:read. */
  read(id: string): Promise<ThreeDsSession> {
    return this.#core.call(readSessionRequest(id));
  }

  /**
   * `POST /3ds/sessions/{id}/authenticate`, permission 3ds:session:authenticate.
   * @throws SvcError `outcome_unknown` when no clear answer came: the cardholder may have been authenticated
   */
  authenticate(id: string, request: AuthenticateRequest): Promise<AuthenticationResult> {
    return this.#core.call(authenticateRequest(id, request));
  }

  /** `GET /3ds/sessions/{id}/challenge-result`, permission 3ds:session:authenticate. */
  challengeResult(id: string): Promise<ChallengeResult> {
    return this.#core.call(challengeResultRequest(id));
  }
}

export function createSessionRequest(session: CreateSession): ApiRequest<CreatedSession> {
  return {
    method: 'POST',
    path: path`/3ds/sessions`,
    body: session,
    key: 'private',
    permission: '3ds:session:create',
    subject: 'creating a 3DS session',
    howToCheck:
      'Run the command again: a session that nobody uses expires by itself, and nobody was asked for anything.',
    shape: async () => (await import('../schema/three-ds/session.ts')).createdSessionSchema,
  };
}

export function readSessionRequest(id: string): ApiRequest<ThreeDsSession> {
  return {
    method: 'GET',
    path: path`/3ds/sessions/${id}`,
    key: 'private',
    permission: '3ds:session:read',
    subject: `3DS session ${id}`,
    shape: async () => (await import('../schema/three-ds/session.ts')).threeDsSessionSchema,
  };
}

export function authenticateRequest(
  id: string,
  request: AuthenticateRequest,
): ApiRequest<AuthenticationResult> {
  return {
    method: 'POST',
    path: path`/3ds/sessions/${id}/authenticate`,
    body: request,
    key: 'private',
    permission: '3ds:session:authenticate',
    subject: `authenticating 3DS session ${id}`,
    howToCheck: `Look at the outcome with 'svc 3ds show ${id}', or 'svc 3ds challenge-result ${id}' after a challenge; do not send it again before.`,
    shape: async () => (await import('../schema/three-ds/session.ts')).authenticationResultSchema,
  };
}

export function challengeResultRequest(id: string): ApiRequest<ChallengeResult> {
  return {
    method: 'GET',
    path: path`/3ds/sessions/${id}/challenge-result`,
    key: 'private',
    permission: '3ds:session:authenticate',
    subject: `the challenge result of 3DS session ${id}`,
    shape: async () => (await import('../schema/three-ds/session.ts')).challengeResultSchema,
  };
}
