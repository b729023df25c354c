// Turns failed exchanges and error responses into errors in plain words.

import { type ErrorCode, type ErrorDetails, localFailure, SvcError } from '../../base/errors.ts';
import { displayHost } from '../../schema/address.ts';
import { ownMember } from '../../schema/own-member.ts';
import { type Effect, isRead, originOf, tookEffect } from './effect.ts';
import type { ApiRequest } from './request.ts';

/** The stage at which an exchange failed. */
export type Stage = 'connect' | 'send' | 'body';

/** The kind of failure, as far as the client can tell. */
export type FailureType =
  | 'timeout'
  | 'refused'
  | 'reset'
  | 'dns'
  | 'tls'
  | 'proxy'
  | 'proxy_refused'
  | 'malformed'
  | 'unreachable';

/** The failure of an exchange without a usable response. `sent` says whether the server may have received any byte. */
export class TransportFailure extends Error {
  override readonly name = 'TransportFailure';
  readonly kind: FailureType;
  readonly stage: Stage;
  readonly sent: boolean;
  /** The system's or library's own short code, such as ECONNRESET. */
  readonly systemCode: string | undefined;

  constructor(kind: FailureType, stage: Stage, message: string, systemCode?: string) {
    super(message);
    this.kind = kind;
    this.stage = stage;
    this.sent = stage !== 'connect';
    this.systemCode = systemCode;
  }
}

/**
 * Turns any error of the HTTP library into a failure in plain words. The original error is dropped on purpose: it may
 * contain addresses, headers and received bytes.
 */
export function toTransportFailure(error: unknown, stage: Stage): TransportFailure {
  if (error instanceof TransportFailure) return error;
  const code = systemCodeOf(error);
  const kind = isMalformed(error) ? 'malformed' : failureTypeOf(code);
  const words = kind === 'reset' && stage === 'connect' ? 'it closed the connection at once' : WORDS[kind];
  // The server read nothing of a request for which it wants a certificate.
  const reached = code === CERTIFICATE_REQUIRED || REFUSED_CERTIFICATE.includes(code ?? '') ? 'connect' : stage;
  return new TransportFailure(kind, reached, ownMember(WORDS_BY_CODE, code ?? '') ?? words, code);
}

/**
 * Returns why an exchange failed. Without a code of undici or the system, no server is at fault: the failure is that of
 * this machine.
 */
export function exchangeFailure(error: unknown, stage: Stage): TransportFailure | SvcError {
  if (error instanceof SvcError) return error;
  if (error instanceof TransportFailure || systemCodeOf(error) !== undefined || isMalformed(error))
    return toTransportFailure(error, stage);
  return localFailure(error);
}

function systemCodeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  // Newer OpenSSL gives some alerts another name.
  if ('code' in error && typeof error.code === 'string') return error.code.replace('_SSL/TLS_ALERT_', '_SSLV3_ALERT_');
  return 'cause' in error ? systemCodeOf(error.cause) : undefined;
}

const WORDS: Record<FailureType, string> = {
  timeout: 'it did not respond in time',
  refused: 'it refused the connection',
  reset: 'it closed the connection before the response was complete',
  dns: 'its name could not be resolved',
  tls: 'its TLS certificate was not accepted',
  proxy: 'the proxy could not be used',
  proxy_refused: 'the proxy refused the connection',
  malformed: 'its response was not valid HTTP',
  unreachable: 'it could not be reached',
};

/** The alert by which a server refuses a client without a certificate; in TLS 1.3 it comes after the request was sent. */
const CERTIFICATE_REQUIRED = 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED';

/** The alerts by which a server refuses the certificate of a client, also after the request was sent. */
const REFUSED_CERTIFICATE = [
  'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
  'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE',
  'ERR_SSL_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE',
  'ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED',
  'ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED',
  'ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN',
];

const WORDS_BY_CODE: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "its TLS certificate has expired, or this machine's clock is ahead",
  CERT_NOT_YET_VALID: "its TLS certificate is not valid yet, or this machine's clock is behind",
  ERR_TLS_CERT_ALTNAME_INVALID: 'its TLS certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its TLS certificate is signed by itself, not by an authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'its TLS certificate is signed by an authority that this machine does not trust',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its TLS certificate is signed by an authority that this machine does not trust',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its TLS certificate came without the intermediate certificate that signed it, or from an unknown authority',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'it only offers versions of TLS that are too old (1.1 or earlier)',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'it only offers versions of TLS that are too old (1.1 or earlier)',
  [CERTIFICATE_REQUIRED]: 'it requires a client certificate',
  ...Object.fromEntries(REFUSED_CERTIFICATE.map((code) => [code, 'it did not accept the client certificate'])),
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: 'it refused the TLS handshake, and may require a client certificate',
  EPROTO: 'it does not speak TLS as expected',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS as expected',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'its response was shorter or longer than announced',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of its response are too long',
};

const FAILURE_TYPES: Readonly<Record<string, FailureType>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'reset',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'malformed',
  EPROTO: 'tls',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls',
};

function failureTypeOf(code: string | undefined): FailureType {
  if (code === undefined) return 'unreachable';
  const known = ownMember(FAILURE_TYPES, code);
  if (known) return known;
  return /CERT|TLS|SSL/.test(code) ? 'tls' : 'unreachable';
}

/** Whether an error means a malformed response: undici gives its parser's errors no code, or that of a broken connection. */
function isMalformed(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'HTTPParserError' || /^bad (response|upgrade)$/.test(error.message);
}

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
      hint: CLIENT_CERTIFICATE,
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

/** Returns the hint for a TLS connection that failed with this code. */
export function tlsHint(systemCode: string | undefined): string {
  return ownMember(TLS_HINTS, systemCode ?? '') ?? TRUST;
}

const TRUST =
  'If your network inspects TLS, trust its authority: set SVC_CERTIFICATES=system, or name a file in NODE_EXTRA_CA_CERTS.';
const CLOCK =
  "Compare this machine's clock with the right time. If it is right, whoever runs the server must renew its certificate.";
const CLIENT_CERTIFICATE =
  'Set SVC_CLIENT_CERT and SVC_CLIENT_KEY, or client_cert and client_key of the profile, to the files that you were given. They are for the host of the base URL only, never for a store.';
const TLS_HINTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: CLOCK,
  CERT_NOT_YET_VALID: CLOCK,
  ERR_TLS_CERT_ALTNAME_INVALID: 'Check the host in the address: the server at this address has another name.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `Whoever runs the server should send its whole chain of certificates. ${TRUST}`,
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'Whoever runs the server, or a proxy before it, must enable TLS 1.2 or later.',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'Whoever runs the server, or a proxy before it, must enable TLS 1.2 or later.',
  [CERTIFICATE_REQUIRED]: CLIENT_CERTIFICATE,
  ...Object.fromEntries(REFUSED_CERTIFICATE.map((code) => [code, CLIENT_CERTIFICATE])),
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: CLIENT_CERTIFICATE,
};
