// Reads received webhook events, and filters their headers for storing and forwarding.

import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isObject, parsedJson } from '../../schema/json-value.ts';

/** The body of a delivery. Only the event's id and type are required; other members are kept as sent. */
export interface Delivery {
  readonly event: { readonly id: string; readonly type: string; readonly [member: string]: unknown };
  readonly delivered_at?: unknown;
  readonly [member: string]: unknown;
}

export interface ReceivedEvent {
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly bytes: Buffer;
  readonly delivery: Delivery;
}

/** A delivery, or why a body is not a delivery. */
export type ReadDelivery = { readonly delivery: Delivery } | { readonly problem: string };

/** The deepest accepted nesting. Deeper JSON could exhaust the stack of a program that reads the event. */
const MAX_DEPTH = 100;

/** Reads a delivery. Keeps unknown types and members. A problem never quotes the body. */
export function readDelivery(bytes: Uint8Array): ReadDelivery {
  const text = textOf(bytes);
  if (text === undefined) return { problem: 'the body is not UTF-8 text' };
  if (text.trim() === '') return { problem: 'the body is empty' };
  const value = parsedJson(text);
  if (value === undefined) return { problem: 'the body is not JSON' };
  if (isDeeper(value, MAX_DEPTH)) return { problem: 'the body is nested too deeply' };
  if (!isObject(value) || !isObject(value['event'])) return { problem: 'the body is JSON, but has no event member' };
  const missing = ['id', 'type'].find((name) => !textIn(value['event'], name));
  return missing === undefined
    ? { delivery: value as Delivery }
    : { problem: `event.${missing} is missing or not a string` };
}

export function textIn(value: unknown, name: string): string | undefined {
  const member = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return typeof member === 'string' ? member : undefined;
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

/** Headers that apply to a single connection, or that every sender sets itself. */
const HOP_HEADERS =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|expect|accept-encoding|http2-settings)$/;

/** Names of headers whose values grant access. A signature grants none; it only proves who sent the event. */
const SECRET = /api-?key|authorization|cookie|password|secret|token/;

const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Returns the headers of a request by lower-case name. Joins repeated headers with commas. */
export function headersOf(headers: IncomingHttpHeaders): Map<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value] as const],
  );
  return new Map(entries);
}

/** Returns the headers for storage, with secret values hidden. */
export function headersToKeep(
  headers: ReadonlyMap<string, string>,
  redact: (text: string) => string,
): Record<string, string> {
  const kept = Array.from(headers, ([name, value]) => [name, valueToKeep(name, value, redact)]);
  return Object.fromEntries(kept) as Record<string, string>;
}

function valueToKeep(name: string, value: string, redact: (text: string) => string): string {
  if (SECRET.test(name)) return '[hidden]';
  if (!name.includes('signature') || value.includes('?')) return redact(value);
  // Redacts name and value of `signature=…` separately: together, they look like the secret of a pre-signed address.
  return value
    .split(/(?<==)(?=[^=])/)
    .map(redact)
    .join('');
}

/** Returns the headers to forward with an event, such as type and signature, without keys and hop-by-hop headers. */
export function headersToForward(headers: ReadonlyMap<string, string>): Record<string, string> {
  const forwarded = Array.from(headers).filter(
    ([name, value]) => !HOP_HEADERS.test(name) && !SECRET.test(name) && NAME.test(name) && VALUE.test(value),
  );
  return { 'content-type': 'application/json', ...Object.fromEntries(forwarded) };
}

const MAX_PLAIN_ID = 64;

/** The most recent event ids, in bounded memory, for recognizing events that are delivered again. */
export class KnownIds {
  readonly #limit: number;
  readonly #ids = new Set<string>();

  constructor(limit = 10_000) {
    this.#limit = limit;
  }

  /** Adds an id. @returns whether it was known */
  add(id: string): boolean {
    const key = deliveryKey(id);
    // Deleting and adding moves a repeated id to the end of the set, so that newer ids are dropped last.
    const isKnown = this.#ids.delete(key);
    this.#ids.add(key);
    const [oldest] = this.#ids;
    if (this.#ids.size > this.#limit && oldest !== undefined) this.#ids.delete(oldest);
    return isKnown;
  }

  get size(): number {
    return this.#ids.size;
  }
}

// Long ids are hashed, since a sender may use ids of any length.
function deliveryKey(id: string): string {
  return id.length <= MAX_PLAIN_ID ? id : createHash('sha256').update(id).digest('base64');
}
