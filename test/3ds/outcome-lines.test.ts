import { describe, expect, it } from 'vitest';
import { isOpen, outcomeLines } from '../../src/3ds/outcome-lines.ts';
import { meaningsOf } from '../../src/cli/glossary/glossary.ts';
import { THREE_DS_MEANINGS as MEANINGS } from '../../src/3ds/glossary.ts';

/** Returns the kind and name of every meaning of a word. */
function kinds(word: string): string[] {
  return meaningsOf(word, MEANINGS).map(({ kind, name }) => `${kind}: ${name}`);
}

describe('meanings', () => {
  it('meanings hold every code of the method completion', () => {
    const found = MEANINGS.filter(({ kind }) => kind === 'method completion').map(({ code }) => code);
    expect(found).toEqual(['Y', 'N', 'U']);
  });

  it('meanings of a status say who bears the loss', () => {
    const statuses = MEANINGS.filter(({ kind }) => kind === 'authentication status');
    expect(statuses.every(({ liability }) => liability !== undefined)).toBe(true);
  });

  it.each([
    ['C', ['authentication status: challenge']],
    ['u', ['authentication status: unavailable', 'method completion: unavailable']],
    ['01', ['challenge cancel reason: cardholder-canceled', 'challenge preference: no-preference']],
    ['1', ['challenge cancel reason: cardholder-canceled', 'challenge preference: no-preference']],
    ['90', ['challenge preference: cartes-bancaires']],
    ['unknown', ['challenge cancel reason: unknown', 'whitelist status: unknown']],
    ['Decoupled-Challenge', ['authentication status: decoupled_challenge']],
    ['acs', ['whitelist status source: acs']],
    [
      'N',
      [
        'authentication status: failed',
        'acs_challenge_mandated: no',
        'method completion: not-completed',
        'billing shipping address match: no',
      ],
    ],
    ['zzz', []],
  ])('the code %s has all of its meanings', (word, found) => {
    expect(kinds(word)).toEqual(found);
  });
});

it('outcomes are open before and during a challenge only', () => {
  for (const status of [undefined, null, '', 'challenge', 'decoupled_challenge'])
    expect(isOpen({ authentication_status: status })).toBe(true);
  for (const status of ['successful', 'attempted', 'failed', 'unavailable', 'rejected', 'informational', 'new'])
    expect(isOpen({ authentication_status: status })).toBe(false);
});

it('outcomes tell meaning, reason, liability and next step', () => {
  expect(
    outcomeLines({
      authentication_status: 'failed',
      authentication_status_reason: 'stolen-card',
      challenge_cancel_reason: 'acs-timeout',
    }),
  ).toEqual([
    expect.stringMatching(/^failed: /),
    expect.stringMatching(/^authentication status reason stolen-card: /),
    expect.stringMatching(/^challenge cancel reason acs-timeout: /),
    expect.stringMatching(/^liability for fraud: /),
    expect.stringMatching(/^next: Stop/),
    expect.stringMatching(/^because of stolen-card: .*do not try this card again/),
  ]);
  expect(outcomeLines({})).toEqual(['the service shows no authentication']);
  expect(outcomeLines({ authentication_status: 'new', authentication_status_reason: 7 })[0]).toContain('does not know');
});
