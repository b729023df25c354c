import { ownMember } from '../../schema/own-member.ts';
import { memoized, mix } from '../seed/random.ts';

/** The effect of a fault on an exchange. Effects combine, except `malformed` and a hang before the head. */
export interface Effect {
  /** The status of a response that replaces the sandbox's response. The request has no effect unless `applied`. */
  readonly status?: number | undefined;
  /** Additional headers of the response. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The body that replaces the body of the response. */
  readonly body?: string | undefined;
  /** The target of a redirect, with status 307 unless `status` is set. */
  readonly redirect?: string | undefined;
  /** Whether the response consists of bytes that are not HTTP. */
  readonly malformed?: boolean | undefined;
  /** The delay before anything else happens, in milliseconds. */
  readonly latency?: number | undefined;
  /** Where the response stops while the connection stays open: before its head, or in the middle of its body. */
  readonly hang?: 'head' | 'body' | undefined;
  /** Where the connection is reset: before the response's head, or after this number of bytes of its body. */
  readonly reset?: 'head' | number | undefined;
  /** The number of bytes of the body after which the connection is closed. */
  readonly truncate?: number | undefined;
  /** Whether the request takes effect although the fault replaces its response. */
  readonly applied?: boolean | undefined;
  /** Whether the store accepts a second file for a job that already has one. */
  readonly acceptSecondPut?: boolean | undefined;
  /** The pause between two bytes of the body, in milliseconds. */
  readonly trickle?: number | undefined;
  /** The encoding in which the response is sent, whatever the request accepts. */
  readonly encode?: Encoding | undefined;
  /** Whether a list of logs ignores start_date and end_date. */
  readonly ignoreDates?: boolean | undefined;
  /** Whether a list ends with an empty page that repeats the cursor of its request. */
  readonly repeatCursor?: boolean | undefined;
}

/** The encodings that Node supports. */
export const ENCODINGS = ['gzip', 'deflate', 'br'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** The request header with which an interceptor makes the store accept a second file. */
export const ACCEPT_SECOND_PUT = 'x-sandbox-accept-second-put';

/** When a rule applies: from the first to the last matching request (counted from 1), with this probability. */
export interface Occasion {
  readonly first: number;
  readonly last: number;
  readonly probability: number;
}

/** A rule: the requests that it matches, when it applies to them, and its effect. */
export interface Fault {
  readonly call: CallPattern;
  readonly occasion: Occasion;
  readonly effect: Effect;
}

/** A syntax error in a fault. The message never repeats the input. */
export class FaultSyntaxError extends Error {}

/** Chooses the fault of each request: the first rule, in order, that applies. */
export class FaultChooser {
  readonly #faults: readonly Fault[];
  readonly #seed: number;
  readonly #seen: number[];

  /** `seed` decides probabilities: the same seed and requests lead to the same faults. */
  constructor(faults: readonly Fault[], seed: number) {
    this.#faults = faults;
    this.#seed = seed;
    this.#seen = faults.map(() => 0);
  }

  choose(method: string, target: string): Effect | undefined {
    let chosen: Effect | undefined;
    for (const [index, { call, occasion, effect }] of this.#faults.entries()) {
      if (!matchesCall(call, method, target)) continue;
      const number = (this.#seen[index] ?? 0) + 1;
      this.#seen[index] = number;
      if (isOccasion(occasion, number, mix(this.#seed, index, number))) chosen ??= effect;
    }
    return chosen;
  }
}

/** Whether a rule applies to its matching request of this number, counted from 1. `chance` is any 32-bit number. */
export function isOccasion({ first, last, probability }: Occasion, number: number, chance: number): boolean {
  return number >= first && number <= last && chance / 2 ** 32 < probability;
}

/** A pattern for requests: a method or `*`, and a path where `*` matches one segment and `**` any number. */
export interface CallPattern {
  readonly method: string;
  readonly path: string;
}

/** Parses a pattern such as `GET /logs` or `* /3ds/**`; undefined for anything else. */
export function readCallPattern(text: string): CallPattern | undefined {
  const [, method, path] = /^(\*|[A-Z]+) (\*\*|\/[^\s:?#]*)$/.exec(text) ?? [];
  return method === undefined || path === undefined ? undefined : { method, path };
}

/** Whether a request matches a pattern. The query is ignored. */
export function matchesCall(pattern: CallPattern, method: string, target: string): boolean {
  if (pattern.method !== '*' && pattern.method !== method) return false;
  const [path = ''] = target.split('?', 1);
  return expressionOf(pattern.path).test(path);
}

const expressionOf = memoized((path: string) => {
  const parts = path
    .split(/(\*\*|\*)/)
    .map((part) => ownMember(WILD, part) ?? part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('')}$`, 's');
});

const WILD: Readonly<Record<string, string>> = { '*': '[^/]+', '**': '.*' };

/** Parses one fault, such as `429,retry-after=2@GET /logs:0.1`. Throws a `FaultSyntaxError`. */
export function readFault(text: string): Fault {
  const [, effects, call, when] = /^(.+?)@((?:\*|[A-Z]+) [^\s:]+)(?::(\S+))?$/.exec(text) ?? [];
  if (effects === undefined || call === undefined)
    throw new FaultSyntaxError('expected an effect, @, a method and a path, such as 429@GET /logs:0.1');
  const pattern = readCallPattern(call);
  if (pattern === undefined) throw new FaultSyntaxError('expected a path starting with / after the method');
  return { call: pattern, occasion: readOccasion(when), effect: readEffects(effects) };
}

/** Parses when a fault applies: a probability, `#3`, `#3-5` or `#3-`. Without a text, a fault always applies. */
export function readOccasion(text: string | undefined): Occasion {
  const always = { first: 1, last: Infinity, probability: 1 };
  if (text === undefined) return always;
  const [, from, dash, to] = /^#(\d+)(-)?(\d+)?$/.exec(text) ?? [];
  if (from !== undefined && (dash !== undefined || to === undefined)) {
    const first = Number(from);
    const last = dash === undefined ? first : Number(to ?? Infinity);
    if (first >= 1 && last >= first) return { ...always, first, last };
  }
  const probability = /^(\d+|\d*\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (probability > 0 && probability <= 1) return { ...always, probability };
  throw new FaultSyntaxError('expected a probability such as 0.1, or #3, #3-5 or #3-, after the colon');
}

function readEffects(text: string): Effect {
  const words = text.split(',').map(readWord);
  const headers = words.flatMap(({ header }) => (header === undefined ? [] : [header]));
  const effects: Effect[] = words.flatMap(({ effect }) => (effect === undefined ? [] : [effect]));
  if (headers.length > 0) effects.push({ headers: Object.fromEntries(headers) });
  return Object.assign({}, ...effects) as Effect;
}

function readWord(word: string): { effect?: Effect | undefined; header?: readonly [string, string] } {
  const [, name = word, value] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
  const effect = readEffect(name, value);
  if (effect !== undefined) return { effect };
  if (value === undefined || !/^[\w-]+$/.test(name)) throw new FaultSyntaxError(UNKNOWN_EFFECT);
  return { header: [name.toLowerCase(), value] };
}

const UNKNOWN_EFFECT =
  'expected a status, body, latency, hang, reset, truncate, trickle, encode, redirect, malformed, applied, accept-second-put, ignore-dates, repeat-cursor or header=value';

function readEffect(name: string, value: string | undefined): Effect | undefined {
  if (/^[2-5]\d\d$/.test(name) && value === undefined) return { status: Number(name) };
  return ownMember(EFFECTS, name)?.(value);
}

const EFFECTS: Readonly<Record<string, (value: string | undefined) => Effect>> = {
  body: (value = '') => ({ body: value }),
  latency: (value) => ({ latency: milliseconds(value) }),
  trickle: (value) => ({ trickle: milliseconds(value) }),
  hang(value = 'head') {
    if (value === 'head' || value === 'body') return { hang: value };
    throw new FaultSyntaxError('expected hang or hang=body');
  },
  reset: (value) => ({ reset: value === undefined ? 'head' : bytes(value) }),
  truncate: (value) => ({ truncate: bytes(value) }),
  redirect: (value) => ({ redirect: address(value) }),
  malformed: () => ({ malformed: true }),
  applied: () => ({ applied: true }),
  'accept-second-put': () => ({ acceptSecondPut: true }),
  encode(value = 'gzip') {
    const encode = ENCODINGS.find((one) => one === value);
    if (encode === undefined) throw new FaultSyntaxError('expected encode=gzip, encode=deflate or encode=br');
    return { encode };
  },
  'ignore-dates': () => ({ ignoreDates: true }),
  'repeat-cursor': () => ({ repeatCursor: true }),
};

/** An example of each effect, for completion. */
export const EFFECT_EXAMPLES: readonly (readonly [effect: string, does: string])[] = [
  ['503', 'respond with this status'],
  ['429', 'respond with this status'],
  ['retry-after=2', 'a header of the response'],
  ['latency=2s', 'wait first'],
  ['trickle=20ms', 'the body a byte at a time'],
  ['hang', 'send nothing, and keep the connection open'],
  ['hang=body', 'send half of the body'],
  ['reset', 'reset the connection'],
  ['truncate=100', 'close the connection within the body'],
  ['malformed', 'bytes that are not HTTP'],
  ['applied', 'let the request take effect first'],
  ['accept-second-put', 'take a second file at an upload address'],
  ['encode=gzip', 'compress the body, although nobody asked'],
  ['ignore-dates', 'list logs of all times'],
  ['repeat-cursor', 'end a list with an empty page that repeats its cursor'],
];

function milliseconds(text = ''): number {
  const [, number, unit] = /^(\d{1,6})(ms|s|m)$/.exec(text) ?? [];
  if (number === undefined || unit === undefined) throw new FaultSyntaxError('expected a duration such as 20ms or 2s');
  return Number(number) * (ownMember(UNIT_MS, unit) ?? 1);
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

function bytes(text = ''): number {
  if (!/^\d{1,9}$/.test(text)) throw new FaultSyntaxError('expected a number of bytes');
  return Number(text);
}

function address(text = ''): string {
  if (!/^[!-~]+$/.test(text)) throw new FaultSyntaxError('expected the address to redirect to');
  return text;
}

export interface Scenario {
  readonly faults: readonly Fault[];
  readonly seed?: number | undefined;
}

/**
 * Parses faults, separated by newlines or semicolons. `seed=7` sets the seed of their probabilities. Skips empty lines and
 * lines that begin with #. Throws a `FaultSyntaxError` with the number of the fault.
 */
export function readFaults(text: string): Scenario {
  const items = itemsIn(text);
  const seeds = items.flatMap((item) => SEED.exec(item)?.[1] ?? []);
  const faults = items.filter((item) => !SEED.test(item));
  return { faults: readEach('fault', faults, readFault), seed: seeds.map(Number).at(-1) };
}

const SEED = /^seed=(\d{1,9})$/;

/** Splits a text into items, without empty items and lines that begin with #. */
export function itemsIn(text: string): string[] {
  const lines = text.split('\n').filter((line) => !line.trimStart().startsWith('#'));
  const items = lines.flatMap((line) => line.split(';')).map((item) => item.trim());
  return items.filter((item) => item !== '');
}

/** Reads each item. Throws a `FaultSyntaxError` with the number of the item. */
export function readEach<T>(what: 'fault' | 'outcome', items: readonly string[], read: (item: string) => T): T[] {
  return items.map((item, index) => {
    try {
      return read(item);
    } catch (error) {
      if (!(error instanceof FaultSyntaxError)) throw error;
      throw new FaultSyntaxError(`${what} ${index + 1}: ${error.message}`);
    }
  });
}
