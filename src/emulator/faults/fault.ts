import { kept, mix } from '../seed/random.ts';

/** What goes wrong with an exchange. Several can be combined; `malformed` and a hang at the head stand alone. */
export interface Effect {
  /** Responds with this status instead of the sandbox. */
  readonly status?: number | undefined;
  /** Set on the response. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The body of the response, in place of the usual one. */
  readonly body?: string | undefined;
  /** Redirects to this address; with 307 unless `status` says otherwise. */
  readonly redirect?: string | undefined;
  /** Responds with bytes that are not HTTP. */
  readonly malformed?: boolean | undefined;
  /** Milliseconds before anything happens. */
  readonly latency?: number | undefined;
  /** Says nothing at all, or stops in the middle of the body, and keeps the connection open. */
  readonly hang?: 'head' | 'body' | undefined;
  /** Resets the connection before the head, or after so many bytes of the body. */
  readonly reset?: 'head' | number | undefined;
  /** Ends the connection in order after so many bytes of the body. */
  readonly truncate?: number | undefined;
  /** The request takes effect all the same; only its response is the fault's. */
  readonly applied?: boolean | undefined;
  /** The store accepts a second file for a job that has one. */
  readonly acceptSecondPut?: boolean | undefined;
  /** Milliseconds between one byte of the body and the next. */
  readonly trickle?: number | undefined;
}

/** The header by which an interceptor makes the store accept a second file for a job. */
export const ACCEPT_SECOND_PUT = 'x-sandbox-accept-second-put';

/** Which of the requests that a rule is about it strikes: those of these numbers, counted from 1, by this chance. */
interface Occasion {
  readonly first: number;
  readonly last: number;
  readonly probability: number;
}

/** A rule: which requests, when, and what goes wrong. */
export interface Fault {
  readonly call: CallPattern;
  readonly occasion: Occasion;
  readonly effect: Effect;
}

/** A fault that is not written as it should be. The message never repeats what was written. */
export class FaultSyntaxError extends Error {}

/** Chooses the fault of each request: of the rules in their order the first that strikes. */
export class FaultChooser {
  readonly #faults: readonly Fault[];
  readonly #seed: number;
  readonly #seen: number[];

  /** The same seed and the same requests lead to the same faults. */
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
      const isMeant = number >= occasion.first && number <= occasion.last;
      if (isMeant && mix(this.#seed, index, number) / 2 ** 32 < occasion.probability) chosen ??= effect;
    }
    return chosen;
  }
}

/** Which requests are meant: a method or `*`, and a path in which `*` stands for one part and `**` for any. */
export interface CallPattern {
  readonly method: string;
  readonly path: string;
}

/** Reads `GET /logs`, `* /3ds/**`. Undefined for anything else. */
export function readCallPattern(text: string): CallPattern | undefined {
  const [, method, path] = /^(\*|[A-Z]+) (\*\*|\/[^\s:?#]*)$/.exec(text) ?? [];
  return method === undefined || path === undefined ? undefined : { method, path };
}

/** Whether a request is meant. A query does not count. */
export function matchesCall(pattern: CallPattern, method: string, target: string): boolean {
  if (pattern.method !== '*' && pattern.method !== method) return false;
  const [path = ''] = target.split('?', 1);
  return expressionOf(pattern.path).test(path);
}

const expressionOf = kept((path: string) => {
  const parts = path.split(/(\*\*|\*)/).map((part) => WILD[part] ?? part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('')}$`, 's');
});

const WILD: Readonly<Record<string, string>> = { '*': '[^/]+', '**': '.*' };

/** Reads one fault, such as `429,retry-after=2@GET /logs:0.1`. Throws a `FaultSyntaxError`. */
export function readFault(text: string): Fault {
  const [, effects, call, when] = /^(.+?)@((?:\*|[A-Z]+) [^\s:]+)(?::(\S+))?$/.exec(text) ?? [];
  if (effects === undefined || call === undefined)
    throw new FaultSyntaxError('must be an effect, @, a method and a path, such as 429@GET /logs:0.1');
  const pattern = readCallPattern(call);
  if (pattern === undefined) throw new FaultSyntaxError('must name a path that begins with / after the method');
  return { call: pattern, occasion: readOccasion(when), effect: readEffects(effects) };
}

/** Reads when a fault applies: a chance, `#3`, `#3-5`, `#3-`; always when there is none. */
function readOccasion(text: string | undefined): Occasion {
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
  throw new FaultSyntaxError('must end, after the colon, in a chance such as 0.1, or in #3, #3-5 or #3-');
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
  'must begin with a status, body, latency, hang, reset, truncate, trickle, redirect, malformed, applied, accept-second-put or header=value';

function readEffect(name: string, value: string | undefined): Effect | undefined {
  if (/^[2-5]\d\d$/.test(name) && value === undefined) return { status: Number(name) };
  return Object.hasOwn(EFFECTS, name) ? EFFECTS[name]?.(value) : undefined;
}

const EFFECTS: Readonly<Record<string, (value: string | undefined) => Effect>> = {
  body: (value = '') => ({ body: value }),
  latency: (value) => ({ latency: milliseconds(value) }),
  trickle: (value) => ({ trickle: milliseconds(value) }),
  hang(value = 'head') {
    if (value === 'head' || value === 'body') return { hang: value };
    throw new FaultSyntaxError('must say hang or hang=body');
  },
  reset: (value) => ({ reset: value === undefined ? 'head' : bytes(value) }),
  truncate: (value) => ({ truncate: bytes(value) }),
  redirect: (value) => ({ redirect: address(value) }),
  malformed: () => ({ malformed: true }),
  applied: () => ({ applied: true }),
  'accept-second-put': () => ({ acceptSecondPut: true }),
};

function milliseconds(text = ''): number {
  const [, number, unit] = /^(\d{1,6})(ms|s|m)$/.exec(text) ?? [];
  if (number === undefined || unit === undefined) throw new FaultSyntaxError('must give a duration such as 20ms or 2s');
  return Number(number) * (UNIT_MS[unit] ?? 1);
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

function bytes(text = ''): number {
  if (!/^\d{1,9}$/.test(text)) throw new FaultSyntaxError('must give a number of bytes');
  return Number(text);
}

function address(text = ''): string {
  if (!/^[!-~]+$/.test(text)) throw new FaultSyntaxError('must give the address to redirect to');
  return text;
}

export interface Scenario {
  readonly faults: readonly Fault[];
  readonly seed?: number | undefined;
}

/**
 * Reads faults, one a line or separated by semicolons, and with `seed=7` the seed of their chances. Empty lines and those
 * that begin with # are skipped. Throws a `FaultSyntaxError` that names the fault by its number.
 */
export function readFaults(text: string): Scenario {
  const lines = text.split('\n').filter((line) => !line.trimStart().startsWith('#'));
  const items = lines.flatMap((line) => line.split(';')).map((item) => item.trim());
  const seeds = items.flatMap((item) => SEED.exec(item)?.[1] ?? []);
  const faults = items.filter((item) => item !== '' && !SEED.test(item)).map(readNumbered);
  return { faults, seed: seeds.map(Number).at(-1) };
}

const SEED = /^seed=(\d{1,9})$/;

function readNumbered(item: string, index: number): Fault {
  try {
    return readFault(item);
  } catch (error) {
    if (!(error instanceof FaultSyntaxError)) throw error;
    throw new FaultSyntaxError(`fault ${index + 1} ${error.message}`);
  }
}
