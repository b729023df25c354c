import { describe, expect, it } from 'vitest';
import { nextCycle } from '../../../src/au/ledger/cycle-names.ts';
import { claim, Machines } from './machines.ts';

/** Returns the next name in a ledger in which these cycles were used. */
async function next(used: readonly string[], cycle: string | undefined, file = 'tokens.csv'): Promise<string> {
  const machine = await new Machines().open('laptop');
  for (const name of used) await claim(machine, ['a'], { cycle: name });
  return nextCycle(machine.ledger, { cycle, file });
}

describe('the next unused cycle', () => {
  it.each([
    [['2026-12'], '2026-12', '2026-12.2'],
    [['2026-12', '2026-12.2'], '2026-12', '2026-12.3'],
    [['2026-12', '2026-12.2'], '2026-12.2', '2026-12.3'],
    [['2026-12', '2026-12.2', '2026-12.3', '2026-12.4'], '2026-12.2', '2026-12.5'],
    [['2026-12', '2026-12.9'], '2026-12.9', '2026-12.10'],
    // A name that could be taken for an option.
    [['-x'], '-x', 'x.2'],
  ])('the next unused cycle counts up where %j were used: %s, then %s', async (used, cycle, expected) => {
    expect(await next(used, cycle)).toBe(expected);
  });

  it('the next unused cycle is no other month, week or version, whose name ends with a number too', async () => {
    expect(await next(['2026.12'], '2026.12')).toBe('2026.12.2');
    expect(await next(['week.48'], 'week.48')).toBe('week.48.2');
  });

  it('the next unused cycle has at most 40 characters', async () => {
    const long = `${'a'.repeat(35)}-bcde`;
    const name = await next([long], long);
    expect(name).toBe(`${'a'.repeat(35)}.2`);
  });

  it.each([
    ['tokens.csv', 'tokens-fix'],
    ['Cards of May (2).CSV', 'cards-of-may-2-fix'],
    ['…', 'rows-fix'],
    [`${'x'.repeat(60)}.csv`, `${'x'.repeat(32)}-fix`],
  ])('a file without a cycle names it: %s becomes %s', async (file, expected) => {
    expect(await next([], undefined, file)).toBe(expected);
    expect(await next([expected], undefined, file)).toBe(`${expected}.2`);
  });
});
