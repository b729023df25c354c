// The parts of the syntax that faults and outcomes of 3-D Secure share.

/** A syntax error in a fault or an outcome. The message never repeats the input. */
export class FaultSyntaxError extends Error {}

/** When a rule applies: from the first to the last matching request (counted from 1), with this probability. */
export interface Occasion {
  readonly first: number;
  readonly last: number;
  readonly probability: number;
}

/** Whether a rule applies to its matching request of this number, counted from 1. `chance` is any 32-bit number. */
export function isOccasion({ first, last, probability }: Occasion, number: number, chance: number): boolean {
  return number >= first && number <= last && chance / 2 ** 32 < probability;
}

/** Parses when a rule applies: a probability, `#3`, `#3-5` or `#3-`. Without a text, the rule always applies. */
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

/** Splits a text into items, without empty items and lines that begin with #. */
export function itemsIn(text: string): string[] {
  const lines = text.split('\n').filter((line) => !line.trimStart().startsWith('#'));
  const items = lines.flatMap((line) => line.split(';')).map((item) => item.trim());
  return items.filter((item) => item !== '');
}

/** Parses each item. Throws a `FaultSyntaxError` with the number of the item. */
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
