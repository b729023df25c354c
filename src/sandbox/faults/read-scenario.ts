import { readCallPattern } from '../call-pattern.ts';
import { type Effect, type Fault, FaultSyntaxError } from './fault.ts';
import { readFault, readOccasion } from './read-fault.ts';

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

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
