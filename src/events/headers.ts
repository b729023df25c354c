import type { IncomingHttpHeaders } from 'node:http';

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
