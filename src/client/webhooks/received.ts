import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isObject, parsedJson } from '../../schema/json-value.ts';

/** The body of a delivery: of the event only its id and type are required, all else is kept as sent. */
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

/** A delivery, or in plain words why a body is not one. */
export type ReadDelivery = { readonly delivery: Delivery } | { readonly problem: string };

/** A body nested more deeply could use up the stack of whatever reads it. */
const DEEPEST = 100;

/** Reads a delivery. Unknown types and members are kept; no problem repeats any of the body. */
export function readDelivery(bytes: Uint8Array): ReadDelivery {
  const text = textOf(bytes);
  if (text === undefined) return { problem: 'the body is not UTF-8 text' };
  if (text.trim() === '') return { problem: 'the body is empty' };
  const value = parsedJson(text);
  if (value === undefined) return { problem: 'the body is not JSON' };
  if (isDeeper(value, DEEPEST)) return { problem: 'the body is nested too deeply' };
  if (!isObject(value) || !isObject(value['event'])) return { problem: 'the body is JSON, but has no event member' };
  const missing = ['id', 'type'].find((name) => !textIn(value['event'], name));
  return missing === undefined
    ? { delivery: value as Delivery }
    : { problem: `event.${missing} is missing or not a string` };
}

/** The job that an event is about, where it names one. */
export function jobOf({ event }: Delivery): { id: string | undefined; status: string | undefined } {
  const job = memberOf(event['data'], 'job');
  return { id: textIn(job, 'id'), status: textIn(job, 'status') };
}

export function textIn(value: unknown, name: string): string | undefined {
  const member = memberOf(value, name);
  return typeof member === 'string' ? member : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
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

/** Headers of one hop, or created again for the next one. */
const OF_ONE_HOP =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|expect|accept-encoding|http2-settings)$/;

/** Names of headers whose values grant access. A signature does not: it only proves where the event is from. */
const SECRET = /api-?key|authorization|cookie|password|secret|token/;

const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The headers of a request by lower-case name; what was sent several times is joined with commas. */
export function headersOf(headers: IncomingHttpHeaders): Map<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value] as const],
  );
  return new Map(entries);
}

/** The headers as they may be stored: secret values are hidden. */
export function headersToKeep(
  headers: ReadonlyMap<string, string>,
  redact: (text: string) => string,
): Record<string, string> {
  const kept = Array.from(headers, ([name, value]) => [name, SECRET.test(name) ? '[hidden]' : redact(value)]);
  return Object.fromEntries(kept) as Record<string, string>;
}

/** The headers that are forwarded with an event: type and signature are, keys and those of the hop are not. */
export function headersToForward(headers: ReadonlyMap<string, string>): Record<string, string> {
  const forwarded = Array.from(headers).filter(
    ([name, value]) => !OF_ONE_HOP.test(name) && !SECRET.test(name) && NAME.test(name) && VALUE.test(value),
  );
  return { 'content-type': 'application/json', ...Object.fromEntries(forwarded) };
}

const LONGEST_PLAIN_ID = 64;

/** The last ids, in bounded memory: the same event can be delivered more than once. */
export class KnownIds {
  readonly #limit: number;
  readonly #ids = new Set<string>();

  constructor(limit = 10_000) {
    this.#limit = limit;
  }

  /** Adds an id. True when it was known. */
  add(id: string): boolean {
    const key = keyOf(id);
    // Deleted and added again, a repeated id stays among the last.
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

// An id is whatever the sender makes it, a megabyte too.
function keyOf(id: string): string {
  return id.length <= LONGEST_PLAIN_ID ? id : createHash('sha256').update(id).digest('base64');
}
