import { ownMember } from '../../schema/own-member.ts';
import { FaultSyntaxError } from './occasion.ts';

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
  /** The encoding of the response, whatever the request accepts. */
  readonly encode?: Encoding | undefined;
  /** Whether a list of logs ignores start_date and end_date. */
  readonly ignoreDates?: boolean | undefined;
  /** Whether a list ends with an empty page that repeats the cursor of its request. */
  readonly repeatCursor?: boolean | undefined;
}

/** The encodings that Node supports. */
export const ENCODINGS = ['gzip', 'deflate', 'br'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** The syntax of an effect: how to read the text after its =, and examples for completion. */
interface EffectSyntax {
  readonly read: (value: string | undefined) => Effect;
  readonly examples: readonly Example[];
}

type Example = readonly [effect: string, does: string];

const EFFECTS: Readonly<Record<string, EffectSyntax>> = {
  body: { read: (value = '') => ({ body: value }), examples: [] },
  latency: { read: (value) => ({ latency: milliseconds(value) }), examples: [['latency=2s', 'wait first']] },
  trickle: {
    read: (value) => ({ trickle: milliseconds(value) }),
    examples: [['trickle=20ms', 'the body a byte at a time']],
  },
  hang: {
    read(value = 'head') {
      if (value === 'head' || value === 'body') return { hang: value };
      throw new FaultSyntaxError('expected hang or hang=body');
    },
    examples: [
      ['hang', 'send nothing, and keep the connection open'],
      ['hang=body', 'send half of the body'],
    ],
  },
  reset: {
    read: (value) => ({ reset: value === undefined ? 'head' : bytes(value) }),
    examples: [['reset', 'reset the connection']],
  },
  truncate: {
    read: (value) => ({ truncate: bytes(value) }),
    examples: [['truncate=100', 'close the connection within the body']],
  },
  redirect: { read: (value) => ({ redirect: address(value) }), examples: [] },
  malformed: { read: () => ({ malformed: true }), examples: [['malformed', 'bytes that are not HTTP']] },
  applied: { read: () => ({ applied: true }), examples: [['applied', 'let the request take effect first']] },
  'accept-second-put': {
    read: () => ({ acceptSecondPut: true }),
    examples: [['accept-second-put', 'take a second file at an upload address']],
  },
  encode: {
    read(value = 'gzip') {
      const encode = ENCODINGS.find((one) => one === value);
      if (encode === undefined) throw new FaultSyntaxError('expected encode=gzip, encode=deflate or encode=br');
      return { encode };
    },
    examples: [['encode=gzip', 'compress the body, whatever the request accepts']],
  },
  'ignore-dates': { read: () => ({ ignoreDates: true }), examples: [['ignore-dates', 'list logs of all times']] },
  'repeat-cursor': {
    read: () => ({ repeatCursor: true }),
    examples: [['repeat-cursor', 'end a list with an empty page that repeats its cursor']],
  },
};

/** Examples of all effects, for completion. */
export const EFFECT_EXAMPLES: readonly Example[] = [
  ['503', 'respond with this status'],
  ['429', 'respond with this status'],
  ['retry-after=2', 'a header of the response'],
  ...Object.values(EFFECTS).flatMap(({ examples }) => examples),
];

/** Parses effects, separated by commas. Throws a `FaultSyntaxError`. */
export function readEffects(text: string): Effect {
  const effects = text.split(',').map(readEffect);
  const headers = effects.flatMap((effect) => Object.entries(effect.headers ?? {}));
  return Object.assign({}, ...effects, headers.length > 0 && { headers: Object.fromEntries(headers) }) as Effect;
}

function readEffect(word: string): Effect {
  const [, name = word, value] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
  if (/^[2-5]\d\d$/.test(word)) return { status: Number(word) };
  const syntax = ownMember(EFFECTS, name);
  if (syntax !== undefined) return syntax.read(value);
  if (value !== undefined && /^[\w-]+$/.test(name)) return { headers: { [name.toLowerCase()]: headerValue(value) } };
  throw new FaultSyntaxError(`expected a status, ${Object.keys(EFFECTS).join(', ')} or header=value`);
}

function headerValue(text: string): string {
  if (!/^[\t -~\u0080-\u00FF]*$/.test(text)) throw new FaultSyntaxError('expected a value that a header may have');
  return text;
}

/** The longest time that a timer takes, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

function milliseconds(text = ''): number {
  const [, number, unit] = /^(\d{1,6})(ms|s|m)$/.exec(text) ?? [];
  const time = Number(number) * (ownMember(UNIT_MS, unit ?? '') ?? Number.NaN);
  if (!(time <= MAX_TIMER_MS)) throw new FaultSyntaxError('expected a duration such as 20ms or 2s');
  return time;
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
