import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearest, typedOption, typedWord } from '../../../src/base/security/typed-word.ts';
import { svcHere } from '../../support/run-here.ts';

const HIDDEN = '(not shown: it may be a secret)';

describe('a word of the command line in an error', () => {
  it.each(['lgos', 'entty-types', 'a.b_c', 'x', 'ABCdefGHIjklMNOpqrST'])(
    'a word of the command line in an error is shown in quotes: %s',
    (word) => {
      expect(typedWord(word)).toBe(`"${word}"`);
    },
  );

  it.each(['', 'prod2', 'a=b', 'a b', 'ABCdefGHIjklMNOpqrSTu', 'sk:abc', 'a/b', 'ü', 'a\nb'])(
    'R05: a word of the command line in an error is not shown where it may be a secret: %j',
    (word) => expect(typedWord(word)).toBe(HIDDEN),
  );

  it('a word of the command line in an error is shown within two edits of a known word, whatever it is made of', () => {
    expect(typedWord('prod23', ['prod-1'])).toBe('"prod23"');
    expect(typedWord('3ds2', ['3ds'])).toBe('"3ds2"');
    expect(typedWord('prod\n', ['prod'])).toBe(HIDDEN);
    expect(typedWord('prod234', ['prod'])).toBe(HIDDEN);
  });

  it.each([
    ['swapped letters, even at its start', 'ua', 'au'],
    ['a missing letter', 'lgs', 'logs'],
    ['an added letter', 'loogs', 'logs'],
    ['a wrong letter', 'lags', 'logs'],
    ['its beginning', 'tena', 'tenant'],
    ['no fewer than half of its letters', 'lxxx', undefined],
  ])('a known word is found by %s', (_what, typed, found) => {
    expect(nearest(typed, ['3ds', 'au', 'logs', 'tenant'])).toBe(found);
  });

  it('a word of the command line in an error of an option with its value is the option alone', () => {
    expect(typedOption('--limt=canary7')).toBe('"--limt"');
    expect(typedOption('--key7=canary')).toBe(HIDDEN);
  });

  it('R05: a word of the command line in an error never holds a digit that no known word is near', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[\w=./+-]*\d[\w=./+-]*$/), (word) => {
        expect(typedWord(word)).toBe(HIDDEN);
      }),
    );
  });
});

it('R05: a key in place of a name is not repeated as SVC_PROFILE either', async () => {
  const { stderr } = await svcHere(['logs'], { env: { SVC_PROFILE: 'key_prod_7Qx41canary' } });
  expect(stderr).toContain('unknown profile (not shown: it may be a secret), named by SVC_PROFILE');
});
