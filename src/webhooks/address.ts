import type { IncomingHttpHeaders } from 'node:http';
import { SvcError } from '../errors.ts';
import { displayHost, isSafeAddress, readAddress } from '../security/address.ts';

/** Reads an address that events may go to: https, or http on this machine. @throws SvcError `usage`, without the address */
export function parseTarget(text: string): URL {
  const url = readAddress(text);
  const problem = url === undefined ? 'must be an absolute URL' : problemOf(url);
  if (url === undefined || problem !== undefined)
    throw new SvcError('usage', problem ?? '', {
      hint: 'Give an address such as http://localhost:3000/webhooks.',
    });
  return url;
}

/** What may be shown of a target: that it has a query, and not which. */
export function displayTarget(url: URL): string {
  return displayHost(url) + (url.pathname === '/' ? '' : url.pathname) + (url.search === '' ? '' : '?…');
}

function problemOf(url: URL): string | undefined {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be an https or http address';
  if (!isSafeAddress(url)) return 'must be https: only https may leave this machine';
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  return undefined;
}

/** What a receiver grants to whoever connects. Times in milliseconds. */
export interface ReceiverLimits {
  /** Bytes of a body. */
  readonly body: number;
  /** Until a request's headers are there. */
  readonly headersMs: number;
  /** Until the whole request is there. */
  readonly requestMs: number;
  /** Connections at a time. */
  readonly connections: number;
}

/** Events are small and their sender is in a hurry. */
export const RECEIVER_LIMITS: ReceiverLimits = {
  body: 1_000_000,
  headersMs: 10_000,
  requestMs: 20_000,
  connections: 500,
};

/** Headers of one hop, or made anew for the next one. */
const OF_ONE_HOP =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|expect|accept-encoding|http2-settings)$/;

/** Names of headers whose values let in whoever has them. A signature is none: it serves to check, and is kept. */
const SECRET = /api-?key|authorization|cookie|password|secret|token/;

const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The headers of a request by lower-case name; what was sent several times is joined with commas. */
export function headersOf(headers: IncomingHttpHeaders): Map<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value] as const],
  );
  return new Map(entries);
}

/** The headers that may be written down: values that are secrets are not among them. */
export function headersToKeep(
  headers: ReadonlyMap<string, string>,
  redact: (text: string) => string,
): Record<string, string> {
  const kept = Array.from(headers, ([name, value]) => [name, SECRET.test(name) ? '[hidden]' : redact(value)]);
  return Object.fromEntries(kept) as Record<string, string>;
}

/** The headers that go on to where an event is forwarded: type and signature do, keys and those of the hop do not. */
export function headersToPassOn(headers: ReadonlyMap<string, string>): Record<string, string> {
  const passed = Array.from(headers).filter(
    ([name, value]) => !OF_ONE_HOP.test(name) && !SECRET.test(name) && NAME.test(name) && VALUE.test(value),
  );
  return { 'content-type': 'application/json', ...Object.fromEntries(passed) };
}
