import { describe, expect, it } from 'vitest';
import { nextCommand, optionAdvice } from '../../src/app/hint.ts';
import { SvcError } from '../../src/errors.ts';

describe('the next command', () => {
  const globals = { sandbox: false, profile: undefined, baseUrl: undefined };

  it.each([
    [['au', 'wait', 'job 1'], {}, "svc au wait 'job 1'"],
    [['au', 'wait', '1'], { sandbox: true }, 'svc --sandbox au wait 1'],
    [['au', 'wait', '1'], { profile: 'p' }, 'svc --profile p au wait 1'],
    [['login'], { profile: 'p' }, 'svc --profile p login'],
    [['login'], { sandbox: true }, 'svc login'],
    [['login', '--profile', '<name>'], { profile: 'p' }, 'svc login --profile <name>'],
    [['sandbox', 'start'], { profile: 'p' }, 'svc sandbox start'],
  ])('%o is written out with the service that was named: %o', (words, named, line) => {
    expect(nextCommand(words, { ...globals, ...named }, { platform: 'linux', env: {} })).toBe(line);
  });
});

describe('advice about options', () => {
  it('names --excel-safe for a column that a spreadsheet would run, not for a place in a body', () => {
    expect(optionAdvice(refused({ column: 'name' }))).toContain('--excel-safe');
    expect(optionAdvice(refused({ line: 1, column: 1 }))).toBeUndefined();
  });
});

function refused(facts: Readonly<Record<string, unknown>>): SvcError {
  return new SvcError('refused_input', 'no', { facts });
}
