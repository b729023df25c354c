import { type Effect, type Fault, FaultSyntaxError, type Occasion, readCallPattern } from './fault.ts';
import { isObject } from '../../schema/guards.ts';

/** Reads one fault, such as `429,retry-after=2@GET /logs:0.1`. Throws a `FaultSyntaxError`. */
export function readFault(text: string): Fault {
  const [, effects, call, when] = /^(.+?)@((?:\*|[A-Z]+) [^\s:]+)(?::(\S+))?$/.exec(text) ?? [];
  if (effects === undefined || call === undefined)
    throw new FaultSyntaxError('must be an effect, @, a method and a path, such as 429@GET /logs:0.1');
  const pattern = readCallPattern(call);
  if (pattern === undefined)
    throw new FaultSyntaxError('must name a path that begins with / after the method');
  return { call: pattern, occasion: readOccasion(when), effect: readEffects(effects) };
}

/** Reads when a fault strikes: a chance, `#3`, `#3-5`, `#3-`; always when there is none. */
function readOccasion(text: string | undefined): Occasion {
  if (text === undefined) return { kind: 'always' };
  const [, from, dash, to] = /^#(\d+)(-)?(\d+)?$/.exec(text) ?? [];
  if (from !== undefined && (dash !== undefined || to === undefined)) {
    const first = Number(from);
    const last = dash === undefined ? first : to === undefined ? Infinity : Number(to);
    if (first >= 1 && last >= first) return { kind: 'numbers', first, last };
  }
  const probability = /^(\d+|\d*\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (probability > 0 && probability <= 1) return { kind: 'chance', probability };
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
  'must begin with a status, latency, hang, reset, truncate, trickle, redirect, malformed, applied or header=value';

function readEffect(name: string, value: string | undefined): Effect | undefined {
  if (/^[2-5]\d\d$/.test(name) && value === undefined) return { status: Number(name) };
  switch (name) {
    case 'latency':
      return { latency: milliseconds(value) };
    case 'trickle':
      return { trickle: milliseconds(value) };
    case 'hang':
      if (value !== undefined && value !== 'head' && value !== 'body')
        throw new FaultSyntaxError('must say hang or hang=body');
      return { hang: value ?? 'head' };
    case 'reset':
      return { reset: value === undefined ? 'head' : bytes(value) };
    case 'truncate':
      return { truncate: bytes(value) };
    case 'redirect':
      return { redirect: address(value) };
    case 'malformed':
      return { malformed: true };
    case 'applied':
      return { applied: true };
    default:
      return undefined;
  }
}

function milliseconds(text = ''): number {
  const [, number, unit] = /^(\d{1,6})(ms|s|m)$/.exec(text) ?? [];
  if (number === undefined) throw new FaultSyntaxError('must give a duration such as 20ms or 2s');
  return Number(number) * (unit === 'm' ? 60_000 : unit === 's' ? 1000 : 1);
}

function bytes(text = ''): number {
  if (!/^\d{1,9}$/.test(text)) throw new FaultSyntaxError('must give a number of bytes');
  return Number(text);
}

function address(text = ''): string {
  if (!/^[!-~]+$/.test(text)) throw new FaultSyntaxError('must give the address to redirect to');
  return text;
}

/** A scenario: faults, and the seed of their chances. */
export interface Scenario {
  readonly faults: readonly Fault[];
  readonly seed?: number | undefined;
}

/**
 * Reads a scenario file: a JSON list whose items are faults in one line, or objects with `on` (`GET /logs`), `when`
 * and the members of `Effect`. Throws a `FaultSyntaxError` that names the item.
 */
export function readScenario(text: string): Fault[] {
  return listOf(text).map((item, index) => {
    try {
      return typeof item === 'string' ? readFault(item) : readItem(item);
    } catch (error) {
      if (!(error instanceof FaultSyntaxError)) throw error;
      throw new FaultSyntaxError(`item ${index + 1} ${error.message}`);
    }
  });
}

/** Reads faults from one line of text, as an environment variable has them: `seed=7; 503@GET /logs:0.5; …`. */
export function readFaultLine(text: string): Scenario {
  const words = text.split(';').map((word) => word.trim());
  const seeds = words.flatMap((word) => /^seed=(\d{1,9})$/.exec(word)?.[1] ?? []);
  const faults = words.filter((word) => word !== '' && !/^seed=\d{1,9}$/.test(word)).map(readFault);
  return { faults, seed: seeds.map(Number).at(-1) };
}

function listOf(text: string): readonly unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new FaultSyntaxError('must be JSON');
  }
  if (!Array.isArray(value)) throw new FaultSyntaxError('must be a JSON list');
  return value;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

const CHECKS: Readonly<Record<keyof Effect, (value: unknown) => boolean>> = {
  status: (value) => isCount(value) && Number(value) >= 200 && Number(value) < 600,
  headers: (value) => isObject(value) && Object.values(value).every(isText),
  body: isText,
  redirect: isText,
  malformed: (value) => value === true,
  applied: (value) => value === true,
  latency: isCount,
  hang: (value) => value === 'head' || value === 'body',
  reset: (value) => value === 'head' || isCount(value),
  truncate: isCount,
  trickle: isCount,
};

function readItem(item: unknown): Fault {
  if (!isObject(item)) throw new FaultSyntaxError('must be text or an object');
  const { on, when, ...rest } = item;
  const call = typeof on === 'string' ? readCallPattern(on) : undefined;
  if (call === undefined) throw new FaultSyntaxError('must have "on", such as "GET /logs"');
  if (when !== undefined && typeof when !== 'string' && typeof when !== 'number')
    throw new FaultSyntaxError('must have a "when" such as 0.1 or "#3"');
  return {
    call,
    occasion: readOccasion(when === undefined ? undefined : String(when)),
    effect: effectOf(rest),
  };
}

function effectOf(members: Readonly<Record<string, unknown>>): Effect {
  for (const [name, value] of Object.entries(members)) {
    const check = Object.entries(CHECKS).find(([known]) => known === name)?.[1];
    if (check === undefined)
      throw new FaultSyntaxError(`must only have on, when, ${Object.keys(CHECKS).join(', ')}`);
    if (!check(value)) throw new FaultSyntaxError(`has a value of "${name}" that cannot be`);
  }
  if (Object.keys(members).length === 0) throw new FaultSyntaxError('must have an effect');
  return members;
}
