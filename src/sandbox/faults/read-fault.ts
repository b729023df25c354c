import { readCallPattern } from '../call-pattern.ts';
import { type Effect, type Fault, FaultSyntaxError, type Occasion } from './fault.ts';

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
export function readOccasion(text: string | undefined): Occasion {
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
