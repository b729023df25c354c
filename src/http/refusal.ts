import { type ErrorCode, SvcError } from '../errors.ts';
import { objectOrUndefined } from '../schema/guards.ts';
import { displayHost } from '../security/address.ts';
import { maskCardNumbers } from '../security/card-number.ts';
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
  const host = target === undefined ? 'an unnamed place' : displayHost(target);
  return new SvcError(
    'bad_response',
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
  return new SvcError('network', `no answer from ${displayHost(facts.url)}: ${failure.message}`, {
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
export function badResponseError(
  facts: CallFacts,
  status: number,
  what: string,
  requestId?: string,
): SvcError {
  return new SvcError(
    'bad_response',
    `the answer of ${displayHost(facts.url)} to ${facts.request.method} ${facts.request.path} made no sense (${status}): ${what}`,
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
    const mend = fixFor(facts.keyOrigin);
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
function fixFor(keyOrigin: string): string {
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
  rejected: 'Fix what the message names, then run the command again.',
  rate_limited: 'Wait a little and run the command again.',
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

/** What an error answer says, whatever its form. Every part is optional: bodies lie. */
export interface Problem {
  /** One line for people: title, detail and field messages. */
  readonly summary: string | undefined;
  /** Messages by field, as a validation problem has them; under the empty name those of no field. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  readonly requestId: string | undefined;
  /** Whether the body is a JSON object that says something, as the service's own errors are: no page of a gateway. */
  readonly isProblem: boolean;
}

const MAX_FIELDS = 20;
const SAYING = ['title', 'message', 'detail', 'error_description', 'reason', 'msg', 'description'];
const NAMING = ['code', 'error_code', 'errorCode', 'type'];

/**
 * Reads an error body: problem JSON (RFC 9457), the same nested under `error` (twice in a 424), other JSON, HTML,
 * text, cut off or empty. Never throws, never gives more than a few hundred characters.
 */
export function readProblem(body: string, contentType: string | undefined): Problem {
  const json = parse(body);
  const record = Array.isArray(json) ? { errors: json as unknown } : objectOrUndefined(json);
  if (!record) {
    const summary = summaryOfOther(json, body, contentType);
    return { summary, fields: {}, requestId: undefined, isProblem: false };
  }
  // The innermost first: it says most, and the end may be cut.
  const levels = levelsOf(record).toReversed();
  const fields = readFields(levels.find((level) => level['errors'] !== undefined)?.['errors']);
  const lines = linesOf(levels.flatMap((level) => [...SAYING.map((name) => level[name]), level['error']]));
  const messages = Object.entries(fields).map(([name, texts]) =>
    name === '' ? texts.join('; ') : `${name}: ${texts.join('; ')}`,
  );
  const said = [...lines, ...messages];
  const summary = cut(
    (said.length > 0 ? said : linesOf(levels.flatMap((level) => NAMING.map((name) => level[name])))).join(
      ' – ',
    ),
  );
  return {
    summary: summary === '' ? undefined : summary,
    fields,
    requestId: levels.map(readId).find((id) => id !== undefined),
    isProblem: summary !== '' && !Array.isArray(json),
  };
}

const MAX_LEVELS = 3;

/** An error body and what is nested under its `error`. */
function levelsOf(record: Record<string, unknown>): Record<string, unknown>[] {
  const levels = [record];
  let inner = objectOrUndefined(record['error']);
  for (; inner !== undefined && levels.length < MAX_LEVELS; inner = objectOrUndefined(inner['error']))
    levels.push(inner);
  return levels;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function summaryOfOther(json: unknown, body: string, contentType: string | undefined): string | undefined {
  if (json === null) return undefined;
  return describeText(typeof json === 'string' ? json : body, contentType);
}

function linesOf(values: readonly unknown[]): string[] {
  const lines = values.filter((value) => typeof value === 'string').map(plainLine);
  return [...new Set(lines)].filter((line) => line !== '' && line !== 'about:blank');
}

function readFields(value: unknown): Record<string, string[]> {
  if (Array.isArray(value)) {
    const list = texts(value);
    return list.length > 0 ? { '': list } : {};
  }
  const entries = Object.entries(objectOrUndefined(value) ?? {}).slice(0, MAX_FIELDS);
  return Object.fromEntries(
    entries
      .map(([name, said]) => [plainLine(name), texts(said)] as const)
      .filter(([, said]) => said.length > 0),
  );
}

function texts(value: unknown): string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list
    .slice(0, MAX_FIELDS)
    .map(messageOf)
    .filter((text) => text !== '');
}

function messageOf(value: unknown): string {
  if (typeof value === 'string') return plainLine(value);
  const record = objectOrUndefined(value) ?? {};
  return linesOf(SAYING.map((name) => record[name])).join(' – ');
}

function readId(record: Record<string, unknown>): string | undefined {
  const id = record['trace_id'] ?? record['traceId'] ?? record['request_id'] ?? record['requestId'];
  return typeof id === 'string' && /^[\w.:|-]{1,128}$/.test(id) ? id : undefined;
}

const MAX_LENGTH = 300;

/**
 * Makes one line for people of text that came from elsewhere: no control, format or bidirectional characters, no
 * card number, no query of an address (it may be a signature), at most 300 characters.
 */
export function plainLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}]+/gu, ' ').trim();
  return cut(maskCardNumbers(hideQueries(line)));
}

/** What a body that is no JSON object says of itself, or undefined where it says nothing. */
export function describeText(body: string, contentType: string | undefined): string | undefined {
  if (/html/i.test(contentType ?? '') || /^\s*<(!doctype|html)/i.test(body)) return describePage(body);
  if (looksBinary(body)) return 'a body that is not text';
  if (/^\s*[[{]/.test(body)) return 'a JSON body that is cut off or damaged';
  const line = plainLine(body);
  return line === '' ? undefined : line;
}

/** Cuts to 300 UTF-16 units, never amid a character. */
export function cut(text: string): string {
  if (text.length <= MAX_LENGTH) return text;
  return `${text.slice(0, MAX_LENGTH - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

function describePage(body: string): string {
  const title = /<title[^>]{0,100}>([^<]{1,1000})/i.exec(body.slice(0, 20_000))?.[1] ?? '';
  const line = plainLine(title);
  return `a web page instead of JSON${line === '' ? '' : `: «${line}»`}`;
}

function looksBinary(body: string): boolean {
  const start = body.slice(0, 1_000);
  const odd = start.match(/(?!\s)\p{Cc}|\uFFFD/gu)?.length ?? 0;
  return odd * 10 > start.length;
}

function hideQueries(text: string): string {
  return text.replace(/(\bhttps?:\/\/[^\s?#"'<>]+)[?#][^\s"'<>]*/gi, '$1?…');
}
