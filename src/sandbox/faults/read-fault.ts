import { type Effect, type Fault, FaultSyntaxError, type Occasion, readCallPattern } from './fault.ts';

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

/** Reads when a fault applies: a chance, `#3`, `#3-5`, `#3-`; always when there is none. */
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
  'must begin with a status, body, latency, hang, reset, truncate, trickle, redirect, malformed, applied or header=value';

function readEffect(name: string, value: string | undefined): Effect | undefined {
  if (/^[2-5]\d\d$/.test(name) && value === undefined) return { status: Number(name) };
  switch (name) {
    case 'body':
      return { body: value ?? '' };
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
