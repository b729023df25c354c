import { randomUUID } from 'node:crypto';
import { EVENT_TYPES } from '../schema/account-updater.ts';
import { isObject } from '../schema/guards.ts';

/** The body of a delivery: of the event only its id and type are required, all else is kept as it came. */
export interface Delivery {
  readonly event: {
    readonly id: string;
    readonly type: string;
    readonly [member: string]: unknown;
  };
  readonly delivered_at?: unknown;
  readonly [member: string]: unknown;
}

/** One delivery of an event to this machine. */
export interface ReceivedEvent {
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** By lower-case name, as they came. */
  readonly headers: ReadonlyMap<string, string>;
  /** The body as it came. */
  readonly bytes: Buffer;
  readonly delivery: Delivery;
}

/** What a body is read as: a delivery, or in plain words why it is none. */
export type ReadDelivery = { readonly delivery: Delivery } | { readonly problem: string };

/** Nested more deeply than this, a body could use up the stack of whatever looks at it. */
const DEEPEST = 100;

/** Reads a delivery. Unknown types and members are kept; no problem repeats any of the body. */
export function readDelivery(bytes: Uint8Array): ReadDelivery {
  const text = textOf(bytes);
  if (text === undefined) return { problem: 'the body is not UTF-8 text' };
  if (text.trim() === '') return { problem: 'the body is empty' };
  if (isDeep(text)) return { problem: 'the body is nested too deeply' };
  const value = parsed(text);
  if (value === undefined) return { problem: 'the body is not JSON' };
  if (!isObject(value) || !isObject(value['event']))
    return { problem: 'the body is JSON, but has no event member' };
  const missing = ['id', 'type'].find((name) => !isFilled(memberOf(value['event'], name)));
  // Both members were looked at just now.
  return missing === undefined
    ? { delivery: value as Delivery }
    : { problem: `event.${missing} is missing or no text` };
}

/** The job that an event is about, where it names one. */
export function jobOf({ event }: Delivery): { id: string | undefined; status: string | undefined } {
  const job = memberOf(event['data'], 'job');
  return { id: textIn(job, 'id'), status: textIn(job, 'status') };
}

/** A member that is text. */
export function textIn(value: unknown, name: string): string | undefined {
  const member = memberOf(value, name);
  return typeof member === 'string' ? member : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Counts brackets outside of strings; whether the text is JSON at all is for the parser to say. */
function isDeep(text: string): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (quoted && character === '\\') at += 1;
    else if (character === '"') quoted = !quoted;
    else if (!quoted && (character === '{' || character === '[')) depth += 1;
    else if (!quoted && (character === '}' || character === ']')) depth -= 1;
    if (depth > DEEPEST) return true;
  }
  return false;
}

/** Types whose shape is known, and beginnings of types of which no more is known than that they exist. */
export const SAMPLE_TYPES: readonly string[] = EVENT_TYPES;
const SEEN_FAMILIES = ['3ds.session.', 'tenant.'] as const;

/** Whether a sample of this type can be made. */
export function hasSample(type: string): boolean {
  return SAMPLE_TYPES.includes(type) || familyOf(type) !== undefined;
}

/** A made-up delivery of this type, as the service would send it at this time (milliseconds since the epoch). */
export function sampleDelivery(type: string, now: number): Delivery {
  const at = new Date(now).toISOString();
  return {
    event: {
      id: randomUUID(),
      type,
      timestamp: at,
      tenant_id: randomUUID(),
      trace_id: randomUUID(),
      data: dataOf(type),
    },
    delivered_at: at,
  };
}

function dataOf(type: string): unknown {
  const family = familyOf(type);
  // Not described anywhere: an id is the least that any of them can hold.
  if (family !== undefined) return { [family === 'tenant.' ? 'tenant' : 'session']: { id: randomUUID() } };
  const word = type.slice(type.lastIndexOf('.') + 1);
  return { job: { id: randomUUID(), status: word === 'created' ? 'pending' : word } };
}

function familyOf(type: string): (typeof SEEN_FAMILIES)[number] | undefined {
  return SEEN_FAMILIES.find(
    (family) => type.startsWith(family) && /^[a-z][a-z._-]{0,60}$/.test(type.slice(family.length)),
  );
}
