import { shownHost } from '../address.ts';
import { type ErrorCode, SvcError } from '../errors.ts';
import type { Problem } from './problem.ts';
import type { ApiRequest } from './request.ts';
import type { TransportFailure } from './transport-failure.ts';

/** What is known of a failed call, for its message. */
export interface CallFacts {
  readonly request: ApiRequest<unknown>;
  readonly url: URL;
  /** Where the key came from, such as `profile prod`. */
  readonly keyOrigin: string;
  /** Takes the key out of a text that came from elsewhere. */
  readonly hide: (text: string) => string;
}

/** An answer came and says no. */
export function refusalError(facts: CallFacts, status: number, problem: Problem): SvcError {
  const { request } = facts;
  const details = {
    status,
    requestId: problem.requestId,
    facts: Object.keys(problem.fields).length > 0 ? { fields: problem.fields } : undefined,
  };
  const said = problem.summary === undefined ? '' : `: ${problem.summary}`;
  const subject = request.subject ?? `${request.method} ${request.path}`;
  if (status === 401 || status === 403) return keyError(facts, status, said, details);
  if (status === 404) {
    return new SvcError('not_found', `not found (404): ${subject}${said}`, {
      ...details,
      ...(problem.isProblem ? {} : { facts: { ...details.facts, not_from_service: true } }),
      hint: problem.isProblem
        ? 'Check the id, and that the key belongs to the tenant that owns it.'
        : 'This is no error of the service itself: check the base URL, and what stands in between.',
    });
  }
  const code = codeOf(status);
  return new SvcError(code, `${WORDS[code]} (${status}): ${subject}${said}`, {
    ...details,
    hint: HINTS[code],
  });
}

/** A redirect: never followed, because the key would follow it (R01). */
export function redirectError(
  facts: CallFacts,
  status: number,
  location: string | undefined,
  requestId?: string,
): SvcError {
  const target =
    location !== undefined && URL.canParse(location, facts.url.href)
      ? new URL(location, facts.url)
      : undefined;
  const host = target === undefined ? 'an unnamed place' : shownHost(target);
  return new SvcError(
    'bad_answer',
    `the service redirects to ${host} (${status}); redirects are not followed`,
    {
      status,
      requestId,
      hint: 'Check the base URL: it should be the address of the API itself.',
    },
  );
}

/** No valid answer came, and the request surely had no effect or only read. */
export function networkError(facts: CallFacts, failure: TransportFailure): SvcError {
  return new SvcError('network', `no answer from ${shownHost(facts.url)}: ${failure.message}`, {
    hint: networkHint(failure),
    retryable: failure.kind !== 'tls' && failure.kind !== 'proxy_refused',
    facts: failure.systemCode === undefined ? undefined : { system_code: failure.systemCode },
  });
}

/** The request may have taken effect, and nothing tells (R20). */
export function unclearError(facts: CallFacts, what: string, status?: number, requestId?: string): SvcError {
  const { request } = facts;
  const subject = request.subject ?? `${request.method} ${request.path}`;
  return new SvcError('outcome_unknown', `outcome unknown: ${subject} may have taken effect, ${what}`, {
    status,
    requestId,
    hint: request.howToCheck ?? 'Look at the present state before you run it again.',
    retryable: false,
  });
}

/** An answer came and made no sense. */
export function badAnswerError(facts: CallFacts, status: number, what: string, requestId?: string): SvcError {
  return new SvcError(
    'bad_answer',
    `the answer of ${shownHost(facts.url)} to ${facts.request.method} ${facts.request.path} made no sense (${status}): ${what}`,
    {
      status,
      requestId,
      hint: 'Check the base URL; if it is right, the service or something in between is at fault.',
    },
  );
}

function keyError(facts: CallFacts, status: number, said: string, details: object): SvcError {
  const { key, permission } = facts.request;
  const needs = permission === undefined ? '' : ` (needs ${permission})`;
  if (status === 401) {
    const mend = mendOf(facts.keyOrigin);
    return new SvcError(
      'unauthorized',
      `the ${key} key from ${facts.keyOrigin} was not accepted (401)${said}`,
      {
        ...details,
        hint: `Check that it is a ${key} key of this environment and still valid${needs}; ${mend}.`,
      },
    );
  }
  return new SvcError(
    'forbidden',
    `the ${key} key from ${facts.keyOrigin} is not allowed to do this (403)${needs}${said}`,
    {
      ...details,
      hint: `Give the key the permission ${permission ?? 'for this endpoint'}, or use another ${key} key.`,
    },
  );
}

// A variable goes before the profile: a key that is stored now would not be used.
function mendOf(keyOrigin: string): string {
  const variable = /^SVC_\w+/.exec(keyOrigin)?.[0];
  if (variable === undefined) return "'svc login' stores a new one";
  return `change ${variable}, or unset it and store one with 'svc login'`;
}

type RefusalCode = Extract<ErrorCode, 'rejected' | 'rate_limited' | 'server'>;

function codeOf(status: number): RefusalCode {
  if (status === 429) return 'rate_limited';
  return status >= 500 || status === 408 ? 'server' : 'rejected';
}

const WORDS: Record<RefusalCode, string> = {
  rejected: 'the service rejected the request',
  rate_limited: 'the service is limiting requests',
  server: 'the service failed',
};

const HINTS: Record<RefusalCode, string> = {
  rejected: 'Mend what the message names and run the command again.',
  rate_limited: 'Wait a little and run the command again, or allow a longer pause with --max-wait.',
  server: 'Nothing was changed by this request; run the command again later.',
};

function networkHint(failure: TransportFailure): string {
  if (failure.kind === 'tls')
    return 'If your network inspects TLS, name its authority in NODE_EXTRA_CA_CERTS.';
  if (failure.kind === 'proxy' || failure.kind === 'proxy_refused')
    return 'Check the proxy variable, its user and password, or add the host to NO_PROXY.';
  if (failure.kind === 'dns' || failure.kind === 'refused')
    return "Check the base URL and your network, then run the command again; 'svc doctor' tries each step.";
  if (failure.stage === 'connect')
    return "Check your network and proxy settings, then run the command again; 'svc doctor' tries each step.";
  return 'It is safe to run the command again.';
}
