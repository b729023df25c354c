import { mix } from '../seed/random.ts';

/** What goes wrong with an exchange. Several can be combined; `malformed` and a hang at the head stand alone. */
export interface Effect {
  /** Answers with this status instead of the sandbox. */
  readonly status?: number | undefined;
  /** Set on the answer, whoever gives it. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Text of the answer, in place of the usual one. */
  readonly body?: string | undefined;
  /** Answers with a redirect to this address; 307 unless `status` says otherwise. */
  readonly redirect?: string | undefined;
  /** Answers with bytes that are no HTTP. */
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
  /** Milliseconds between one byte of the body and the next. */
  readonly trickle?: number | undefined;
}

/** Which of the requests that a rule is about it strikes. Numbers count from 1. */
export type Occasion =
  | { readonly kind: 'always' }
  | { readonly kind: 'chance'; readonly probability: number }
  | { readonly kind: 'numbers'; readonly first: number; readonly last: number };

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
      if (chosen === undefined && this.#strikes(occasion, index, number)) chosen = effect;
    }
    return chosen;
  }

  #strikes(occasion: Occasion, index: number, number: number): boolean {
    switch (occasion.kind) {
      case 'always':
        return true;
      case 'chance':
        return mix(this.#seed, index, number) / 2 ** 32 < occasion.probability;
      case 'numbers':
        return number >= occasion.first && number <= occasion.last;
    }
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

const known = new Map<string, RegExp>();

function expressionOf(path: string): RegExp {
  let expression = known.get(path);
  if (expression === undefined) {
    const parts = path
      .split(/(\*\*|\*)/)
      .map((part) => WILD[part] ?? part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
    expression = new RegExp(`^${parts.join('')}$`, 's');
    known.set(path, expression);
  }
  return expression;
}

const WILD: Readonly<Record<string, string>> = { '*': '[^/]+', '**': '.*' };
