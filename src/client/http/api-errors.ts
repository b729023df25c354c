// Explains why a call of an endpoint failed: no response, a refusal, a redirect or an unusable success.

import { type ErrorCode, type ErrorDetails, SvcError } from '../../base/errors.ts';
import { displayHost } from '../../schema/address.ts';
import { type Effect, isRead, originOf, tookEffect } from './effect.ts';
import type { ApiRequest } from './request.ts';
import { CLIENT_CERTIFICATE_HINT, tlsHint, type TransportFailure } from './transport-failure.ts';

/** The facts of a call, for the message when it fails. */
export interface CallFacts {
  readonly request: ApiRequest<unknown>;
  readonly url: URL;
  /** The origin of the key, such as `profile prod`. */
  readonly keyOrigin: string;
  /** Removes the key from foreign text. */
  readonly hide: (text: string) => string;
}

/** The content of an error response. */
export interface Problem {
  /** One line for people: title, detail and field messages. */
  readonly summary: string | undefined;
  /** Messages of a validation problem by field; the empty name has those without a field. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  readonly requestId: string | undefined;
  /** Whether the body is an error of the service itself, not a page of a gateway. */
  readonly isProblem: boolean;
}

type ResponseOrFailure = { readonly failure: TransportFailure } | ResponseFacts;

interface ResponseFacts {
  readonly status: number;
  readonly text: string;
  readonly header: (name: string) => string | undefined;
}

/** Returns whether a call took effect, by its response or its failure. */
export function effectOf({ request: { method } }: CallFacts, outcome: ResponseOrFailure): Effect {
  if ('failure' in outcome) return tookEffect({ method, share: outcome.failure.sent ? 'all' : 'none' });
  const response = { status: outcome.status, origin: originOf('service', outcome) };
  return tookEffect({ method, share: 'all', response });
}

/** Returns the error for a missing response. */
export function noResponseError(facts: CallFacts, failure: TransportFailure, effect: Effect): SvcError {
  if (effect === 'unknown') return unclearError(facts, failure.message);
  return new SvcError('network', `no response from ${displayHost(facts.url)}: ${failure.message}`, {
    ...networkAdvice(failure),
    retryable: failure.kind !== 'tls' && failure.kind !== 'proxy_refused',
    facts: failure.systemCode === undefined ? undefined : { system_code: failure.systemCode },
  });
}

/** Returns the error for a refusal. */
export function refusalError(facts: CallFacts, status: number, problem: Problem, effect: Effect): SvcError {
  const { requestId, fields, summary } = problem;
  const said = summary === undefined ? '' : `: ${summary}`;
  if (effect === 'unknown')
    return unclearError(facts, `the service responded with ${status}${said}`, { status, requestId });
  const { code, words, ...advice } = refusalOf(facts, status, problem);
  const known = {
    ...(Object.keys(fields).length > 0 && { fields }),
    ...(isForeign(code, problem) && { not_from_service: true }),
    ...(code === 'forbidden' && problem.isProblem && forbiddenFacts(facts.request, summary)),
  };
  return new SvcError(code, `${words}${said}`, {
    status,
    requestId,
    facts: Object.keys(known).length > 0 ? known : undefined,
    ...advice,
  });
}

/** Whether a refusal is not from the service itself. An empty 401 may be the service's own. */
function isForeign(code: ErrorCode, { isProblem, summary }: Problem): boolean {
  if (isProblem) return false;
  return code === 'not_found' || code === 'forbidden' || (code === 'unauthorized' && summary !== undefined);
}

interface Redirect {
  readonly location: string | undefined;
  readonly requestId: string | undefined;
  readonly effect: Effect;
}

/** Returns the error for a redirect, which is never followed, because the key would follow it (R01). */
export function redirectError(facts: CallFacts, status: number, { location, requestId, effect }: Redirect): SvcError {
  const { url, request } = facts;
  const target = location !== undefined && URL.canParse(location, url.href) ? new URL(location, url) : undefined;
  const host = target === undefined ? 'an unnamed address' : displayHost(target);
  const isSecure = url.protocol === 'http:' && target?.protocol === 'https:' && target.hostname === url.hostname;
  const base = isSecure ? `${displayHost(target)}${basePath(url, request)}` : undefined;
  const redirects = `the service redirects to ${host} (${status})`;
  if (effect === 'unknown') return unclearError(facts, redirects, { status, requestId });
  return new SvcError('bad_response', `${redirects}; redirects are not followed`, {
    status,
    requestId,
    hint:
      base === undefined
        ? 'Check the base URL: it should be the address of the API itself.'
        : `Use https in the base URL: set SVC_BASE_URL=${base}, or store it:`,
    next: base === undefined ? undefined : ['profile', 'set', 'base_url', base],
  });
}

/** Returns the path of the base URL of a request. */
function basePath({ pathname }: URL, { path }: ApiRequest<unknown>): string {
  return pathname.slice(0, -path.length);
}

/** Returns the error for an unusable success. The outcome of a request that may have had an effect is unclear. */
export function unreadableError(facts: CallFacts, what: string, details: Received): SvcError {
  const { method, path } = facts.request;
  if (!isRead(method))
    return unclearError(facts, `its response (${details.status}) could not be read: ${what}`, details);
  return new SvcError(
    'bad_response',
    `the response of ${displayHost(facts.url)} to ${method} ${path} is malformed (${details.status}): ${what}`,
    { ...details, hint: 'Check the base URL; if it is right, the service or something in between is at fault.' },
  );
}

/** Returns the error for a success that does not confirm that the request took effect. */
export function unconfirmedError(facts: CallFacts, details: Received): SvcError {
  return unclearError(facts, `and its response (${details.status}) does not confirm it`, details);
}

/** Returns the error when the signal ends a sent request: the request may have taken effect, which the error says (R20). */
export function abortedError(facts: CallFacts, reason: unknown): unknown {
  if (isRead(facts.request.method) || !(reason instanceof SvcError)) return reason;
  const unclear = unclearError(facts, reason.message);
  if (reason.code === 'timeout' || reason.code === 'local') return unclear;
  const { hint, next } = unclear;
  return reason.with({ message: `${reason.message}; ${unclear.message}`, hint, next, retryable: false });
}

type Received = Pick<ErrorDetails, 'status' | 'requestId'>;

/** Returns the error for a request that may or may not have taken effect (R20). */
function unclearError({ request }: CallFacts, what: string, details: Received = {}): SvcError {
  return new SvcError('outcome_unknown', `outcome unknown: ${subjectOf(request)} may have taken effect, ${what}`, {
    hint: 'Check the current state before you run it again.',
    ...request.whenUnclear,
    ...details,
    retryable: false,
  });
}

function subjectOf({ subject, method, path }: ApiRequest<unknown>): string {
  return subject ?? `${method} ${path}`;
}

type Advice = Pick<ErrorDetails, 'hint' | 'next'>;

function refusalOf(
  { request, url, keyOrigin }: CallFacts,
  status: number,
  problem: Problem,
): Advice & { readonly code: ErrorCode; readonly words: string } {
  const { isProblem, summary } = problem;
  const { key, permission } = request;
  const needs = permission === undefined ? '' : ` (needs ${permission})`;
  const subject = subjectOf(request);
  const refusal = status === 401 ? 'unauthorized' : status === 403 ? 'forbidden' : undefined;
  if (refusal !== undefined && isForeign(refusal, problem))
    return { code: refusal, words: `${displayHost(url)} refused the request (${status})`, hint: NOT_FROM_SERVICE };
  if (status === 401) {
    const words = `the ${key} key from ${keyOrigin} was not accepted (401)`;
    return {
      code: 'unauthorized',
      words,
      ...keyAdvice(keyOrigin, `a ${key} key of this environment and still valid${needs}`),
    };
  }
  if (status === 403)
    return {
      code: 'forbidden',
      words: `the ${key} key from ${keyOrigin} is not allowed to do this (403)${needs}`,
      ...forbiddenAdvice(request, summary),
    };
  if (status === 404 && WITHOUT_ID.test(request.path))
    return {
      code: 'not_found',
      words: `not found (404): ${subject}`,
      hint: `${displayHost(url)}${basePath(url, request)} has no such path: is the base URL right? Check it step by step:`,
      next: ['doctor'],
    };
  if (status === 404)
    return {
      code: 'not_found',
      words: `not found (404): ${subject}`,
      hint: isProblem ? 'Check the id, and that the key belongs to the tenant that owns it.' : NOT_FROM_SERVICE,
    };
  // nginx answers with this sentence in an HTML page.
  if (status === 400 && !isProblem && /\bSSL certificate\b/i.test(summary ?? ''))
    return {
      code: 'rejected',
      words: `${displayHost(url)} ${/\bno required\b/i.test(summary ?? '') ? 'requires a' : 'did not accept the'} client certificate (400)`,
      hint: CLIENT_CERTIFICATE_HINT,
    };
  const { code, words, hint } = usualAdvice(status);
  return { code, words: `${words} (${status}): ${subject}`, hint };
}

const NOT_FROM_SERVICE = 'This error is not from the service itself: check the base URL, and any proxy or gateway.';

/** Advises on a 403, which has two causes: the key, or an enterprise feature that is not enabled for the tenant. */
function forbiddenAdvice({ key, permission, path }: ApiRequest<unknown>, summary: string | undefined): Advice {
  const feature = featureOf(path);
  if (isAboutFeature(summary))
    return {
      hint: `${feature ?? 'This feature'} is not enabled for the tenant, and no permission of a key changes that: ask the service's support to enable it.`,
    };
  const orFeature =
    feature === undefined ? '' : `, or ${feature}, an enterprise feature, is not enabled for the tenant`;
  return {
    // A key of the other type gets this response too, and must not be given more rights than it should have.
    hint: `If it is a ${key} key, it lacks the permission ${permission ?? 'for this endpoint'}${orFeature}. Check its type before you change its permissions:`,
    next: ['whoami'],
  };
}

/** Returns the service's own words about a 403, and the feature that they say is not enabled. */
function forbiddenFacts({ path }: ApiRequest<unknown>, summary: string | undefined) {
  return { detail: summary, ...(isAboutFeature(summary) && { disabled_feature: featureOf(path) ?? 'this feature' }) };
}

function isAboutFeature(summary = ''): boolean {
  return /\benterprise feature\b/i.test(summary);
}

function featureOf(path: string): string | undefined {
  return FEATURES.find(([prefix]) => path.startsWith(prefix))?.[1];
}

const FEATURES: readonly (readonly [prefix: string, name: string])[] = [
  ['/3ds/', '3DS'],
  ['/account-updater/', 'Account Updater'],
];

function usualAdvice(status: number): typeof LIMITED | typeof FAILED | typeof REJECTED {
  if (status === 429) return LIMITED;
  return status === 408 || status >= 500 ? FAILED : REJECTED;
}

/** Paths that every service has: if one is missing, the base URL is wrong, not an id. */
const WITHOUT_ID =
  /^\/(?:logs(?:\/entity-types)?|tenants\/self(?:\/reports\/usage)?|account-updater\/jobs|3ds\/sessions|applications)$/;

// A variable precedes the profile, so a newly stored key would not be used.
function keyAdvice(keyOrigin: string, what: string): Advice {
  const variable = /^SVC_\w+/.exec(keyOrigin)?.[0];
  const change = variable === undefined ? 'or store a new one' : `change ${variable}, or unset it and store a key`;
  return { hint: `Check that it is ${what}; ${change}.`, next: ['login'] };
}

const LIMITED = {
  code: 'rate_limited',
  words: 'the service is limiting requests',
  hint: 'Wait a little and run the command again.',
} as const;
const FAILED = {
  code: 'server',
  words: 'the service failed',
  hint: 'Nothing was changed by this request; run the command again later.',
} as const;
const REJECTED = {
  code: 'rejected',
  words: 'the service rejected the request',
  hint: 'Fix what the message names, then run the command again.',
} as const;

function networkAdvice({ kind, stage, systemCode }: TransportFailure): Advice {
  if (kind === 'tls') return { hint: tlsHint(systemCode) };
  if (kind === 'proxy' || kind === 'proxy_refused')
    return { hint: 'Check the proxy variable, its user and password, or add the host to NO_PROXY.' };
  if (kind === 'dns' || kind === 'refused')
    return { hint: 'Check the base URL and your network, step by step:', next: ['doctor'] };
  if (stage === 'connect') return { hint: 'Check your network and proxy settings, step by step:', next: ['doctor'] };
  return { hint: 'It is safe to run the command again.' };
}
