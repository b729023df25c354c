import type { IncomingMessage } from 'node:http';
import { StoreRefusal } from '../store/refusal.ts';

/** What is signed of a request: its parts in one form, whichever way they were written. */
export function canonicalRequest(
  incoming: IncomingMessage,
  names: readonly string[],
  payload: string,
): string {
  const [path, query] = splitOnce(incoming.url ?? '');
  const headers = names.map((name) => {
    const value = incoming.headers[name] ?? '';
    return `${name}:${String(value).trim().replace(/ +/g, ' ')}\n`;
  });
  return [
    incoming.method,
    decodedPart(path).split('/').map(encoded).join('/'),
    canonicalQuery(query),
    headers.join(''),
    names.join(';'),
    payload,
  ].join('\n');
}

function canonicalQuery(query: string): string {
  const pairs = query.split('&').filter((pair) => pair !== '');
  const coded = pairs.map((pair) => {
    const at = pair.indexOf('=');
    const [name, value] = at === -1 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
    return [encoded(decodedPart(name)), encoded(decodedPart(value))] as const;
  });
  return coded
    .toSorted(([a, x], [b, y]) => (a === b ? order(x, y) : order(a, b)))
    .map((pair) => pair.join('='))
    .join('&');
}

function splitOnce(target: string): [string, string] {
  const at = target.indexOf('?');
  return at === -1 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)];
}

function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function decodedPart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new StoreRefusal(400, 'InvalidURI', 'The address could not be read.');
  }
}

// Everything but the unreserved characters, which encodeURIComponent takes for a few more.
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
