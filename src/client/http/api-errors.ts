// Explains why a call of an endpoint failed: no response, a refusal, a redirect or an unusable success.

import { type ErrorCode, type ErrorDetails, SvcError } from '../../base/errors.ts';
import { displayHost } from '../../schema/address.ts';
import { type Effect, isRead } from './effect.ts';
import type { Problem } from './problem.ts';
import type { ApiRequest } from './request.ts';
import { CLIENT_CERTIFICATE_HINT, hintToServer, type TransportFailure } from './transport-failure.ts';

/** A call of an endpoint, as error messages describe it. */
export interface CallFacts {
  readonly request: ApiRequest<unknown>;
  readonly url: URL;
  /** The origin of the key, such as `profile prod`. */
  readonly keyOrigin: string;
  /** Removes the key from foreign text. */
  readonly hide: (text: string) => string;
}

/** Returns the error for a call without a response. */
export function noResponseError(facts: CallFacts, failure: TransportFailure, effect: Effect): SvcError {
  if (effect === 'unknown') return unclearError(facts, failure.message);
  return failure.toError(`no response from ${displayHost(facts.url)}`, networkAdvice(failure, facts.url));
}

/** Returns the error for an error response. */
export function refusalError(call: CallFacts, status: number, problem: Problem, effect: Effect): SvcError {
  const { requestId, fields, summary } = problem;
  const details = summary === undefined ? '' : `: ${summary}`;
  if (effect === 'unknown')
    return unclearError(call, `the service responded with ${status}${details}`, { status, requestId });
  const { code, words, ...advice } = explainRefusal(call, status, problem);
  const facts = {
    ...(Object.keys(fields).length > 0 && { fields }),
    ...(isForeign(code, problem) && { not_from_service: true }),
    ...(code === 'forbidden' && problem.isFromService && forbiddenFacts(call.request, summary)),
  };
  return new SvcError(code, `${words}${details}`, {
    status,
    requestId,
    facts: Object.keys(facts).length > 0 ? facts : undefined,
    ...advice,
  });
}

/** Whether a server on the way sent a refusal. An empty 401 may be from the service. */
function isForeign(code: ErrorCode, { isFromService, summary }: Problem): boolean {
  if (isFromService) return false;
  return code === 'not_found' || code === 'forbidden' || (code === 'unauthorized' && summary !== undefined);
}

interface Redirect {
  readonly location: string | undefined;
  readonly requestId: string | undefined;
  readonly effect: Effect;
}

/** Returns the error for a redirect. No redirect is followed, since the other server would get the key (R01). */
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

function basePath({ pathname, origin }: URL, { path }: ApiRequest<unknown>): string {
  // The URL has encoded letters of the path that are not ASCII.
  return pathname.slice(0, -new URL(origin + path).pathname.length);
}

/** Returns the error for a success with an unusable body. Whether a change took effect is then unknown. */
export function unreadableError(facts: CallFacts, problem: string, details: ResponseDetails): SvcError {
  const { method, path } = facts.request;
  if (!isRead(method))
    return unclearError(facts, `its response (${details.status}) could not be read: ${problem}`, details);
  return new SvcError(
    'bad_response',
    `the response of ${displayHost(facts.url)} to ${method} ${path} is malformed (${details.status}): ${problem}`,
    { ...details, hint: 'Check the base URL; if it is right, the service or something in between is at fault.' },
  );
}

/** Returns the error for a success that does not confirm that the request took effect. */
export function unconfirmedError(facts: CallFacts, details: ResponseDetails): SvcError {
  return unclearError(facts, `and its response (${details.status}) does not confirm it`, details);
}

/** Returns the error for a sent request that the signal ended. For a change, the error says that it may have taken effect (R20). */
export function abortedError(facts: CallFacts, reason: unknown): unknown {
  if (isRead(facts.request.method) || !(reason instanceof SvcError)) return reason;
  const unclear = unclearError(facts, reason.message);
  if (reason.code === 'timeout' || reason.code === 'local') return unclear;
  const { hint, next } = unclear;
  return reason.with({ message: `${reason.message}; ${unclear.message}`, hint, next, retryable: false });
}

type ResponseDetails = Pick<ErrorDetails, 'status' | 'requestId'>;

/** Returns the error for a request that may or may not have taken effect (R20). */
function unclearError({ request }: CallFacts, problem: string, details: ResponseDetails = {}): SvcError {
  return new SvcError('outcome_unknown', `outcome unknown: ${subjectOf(request)} may have taken effect, ${problem}`, {
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

type Explanation = Advice & { readonly code: ErrorCode; readonly words: string };

function explainRefusal(call: CallFacts, status: number, problem: Problem): Explanation {
  const { request, url, keyOrigin } = call;
  const { isFromService, summary = '' } = problem;
  const { key, permission } = request;
  if (status === 401 || status === 403) {
    const code = status === 401 ? 'unauthorized' : 'forbidden';
    const needs = permission === undefined ? '' : ` (needs ${permission})`;
    if (isForeign(code, problem))
      return { code, words: `${displayHost(url)} refused the request (${status})`, hint: NOT_FROM_SERVICE };
    const words = `the ${key} key from ${keyOrigin} is not allowed to do this (403)${needs}`;
    if (code === 'forbidden') return { code, words, ...forbiddenAdvice(request, summary) };
    const advice = keyAdvice(keyOrigin, `a ${key} key of this environment and still valid${needs}`);
    return { code, words: `the ${key} key from ${keyOrigin} was not accepted (401)`, ...advice };
  }
  if (status === 404)
    return { code: 'not_found', words: `not found (404): ${subjectOf(request)}`, ...notFoundAdvice(call, problem) };
  // nginx sends this sentence in an HTML page.
  if (status === 400 && !isFromService && /\bSSL certificate\b/i.test(summary)) {
    const words = /\bno required\b/i.test(summary) ? 'requires a' : 'did not accept the';
    return {
      code: 'rejected',
      words: `${displayHost(url)} ${words} client certificate (400)`,
      hint: CLIENT_CERTIFICATE_HINT,
    };
  }
  const { code, words, hint } = status === 429 ? LIMITED : status === 408 || status >= 500 ? FAILED : REJECTED;
  return { code, words: `${words} (${status}): ${subjectOf(request)}`, hint };
}

function notFoundAdvice({ request, url }: CallFacts, { isFromService }: Problem): Advice {
  if (!WITHOUT_ID.test(request.path))
    return {
      hint: isFromService ? 'Check the id, and that the key belongs to the tenant that owns it.' : NOT_FROM_SERVICE,
    };
  const base = `${displayHost(url)}${basePath(url, request)}`;
  return { hint: `${base} has no such path: is the base URL right? Check it step by step:`, next: ['doctor'] };
}

const NOT_FROM_SERVICE = 'This error is not from the service itself: check the base URL, and any proxy or gateway.';

/** Returns the advice for a 403. The cause is the key, or an enterprise feature that is not enabled for the tenant. */
function forbiddenAdvice({ key, permission, path }: ApiRequest<unknown>, summary: string): Advice {
  const feature = featureOf(path);
  if (isAboutFeature(summary))
    return {
      hint: `${feature ?? 'This feature'} is not enabled for the tenant, and no permission of a key changes that: ask the service's support to enable it.`,
    };
  const orFeature =
    feature === undefined ? '' : `, or ${feature}, an enterprise feature, is not enabled for the tenant`;
  return {
    // A key of the other type gets a 403 too, and must not be given more permissions.
    hint: `If it is a ${key} key, it lacks the permission ${permission ?? 'for this endpoint'}${orFeature}. Check its type before you change its permissions:`,
    next: ['whoami'],
  };
}

/** Returns facts about a 403 for scripts: the service's message, and the feature that is not enabled. */
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

/** The paths without an id. A 404 for such a path means that the base URL is wrong. */
const WITHOUT_ID =
  /^\/(?:logs(?:\/entity-types)?|tenants\/self(?:\/reports\/usage)?|account-updater\/jobs|3ds\/sessions|applications)$/;

function keyAdvice(keyOrigin: string, expected: string): Advice {
  // A key in a variable is used instead of a stored key, so storing a new key would not help.
  const variable = /^SVC_\w+/.exec(keyOrigin)?.[0];
  const change = variable === undefined ? 'or store a new one' : `change ${variable}, or unset it and store a key`;
  return { hint: `Check that it is ${expected}; ${change}.`, next: ['login'] };
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

function networkAdvice(failure: TransportFailure, url: URL): Advice {
  const { kind, stage } = failure;
  if (kind === 'dns' || kind === 'refused')
    return { hint: 'Check the base URL and your network, step by step:', next: ['doctor'] };
  if (stage === 'connect') return { hint: 'Check your network and proxy settings, step by step:', next: ['doctor'] };
  return { hint: hintToServer('It is safe to run the command again.', failure, url) };
}
