import { ownMember } from '../../schema/own-member.ts';
import { memoized, mix } from '../seed/random.ts';
import { type Effect, readEffects } from './effect.ts';
import { FaultSyntaxError, isOccasion, itemsIn, type Occasion, readEach, readOccasion } from './occasion.ts';

/** The request header with which an interceptor makes the store accept a second file. */
export const ACCEPT_SECOND_PUT = 'x-sandbox-accept-second-put';

/** A rule that changes matching requests. */
export interface Fault {
  /** As it was typed. */
  readonly text: string;
  readonly call: CallPattern;
  readonly occasion: Occasion;
  readonly effect: Effect;
}

/** Chooses the effect for each request: the effect of the first rule that applies. */
export class FaultChooser {
  readonly #faults: readonly Fault[];
  readonly #seed: number;
  readonly #seen: number[];
  readonly #applied = new Set<Fault>();

  /** `seed` decides probabilities: the same seed and requests lead to the same faults. */
  constructor(faults: readonly Fault[], seed = 1) {
    this.#faults = faults;
    this.#seed = seed;
    this.#seen = faults.map(() => 0);
  }

  choose(method: string, target: string): Effect | undefined {
    let chosen: Fault | undefined;
    for (const [index, fault] of this.#faults.entries()) {
      if (!matchesCall(fault.call, method, target)) continue;
      const number = (this.#seen[index] ?? 0) + 1;
      this.#seen[index] = number;
      if (isOccasion(fault.occasion, number, mix(this.#seed, index, number))) chosen ??= fault;
    }
    if (chosen !== undefined) this.#applied.add(chosen);
    return chosen?.effect;
  }

  /** The rules that applied to no request. */
  get unapplied(): readonly Fault[] {
    return this.#faults.filter((fault) => !this.#applied.has(fault));
  }
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
  return { text, call: pattern, occasion: readOccasion(when), effect: readEffects(effects) };
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
