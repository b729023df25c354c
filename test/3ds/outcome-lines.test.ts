import { describe, expect, it } from 'vitest';
import { isOpen, outcomeLines } from '../../src/3ds/outcome-lines.ts';
import { meaningsOf } from '../../src/cli/glossary/glossary.ts';
import { THREE_DS_MEANINGS as MEANINGS } from '../../src/3ds/glossary.ts';
import {
  AUTHENTICATION_STATUS_CODES,
  CHALLENGE_CANCEL_REASON_CODES,
  CHALLENGE_PREFERENCE_CODES,
} from '../../src/schema/three-ds/values.ts';

const NAMES: Readonly<Record<string, readonly string[]>> = {
  'authentication status': Object.keys(AUTHENTICATION_STATUS_CODES),
  'authentication status reason': [
    'card-authentication-failed',
    'unknown-device',
    'unsupported-device',
    'too-many-authentication-attempts',
    'card-expired',
    'invalid-card-number',
    'invalid-transaction',
    'no-card-record',
    'security-failure',
    'stolen-card',
    'suspected-fraud',
    'transaction-not-permitted',
    'cardholder-not-enrolled',
    'timeout-at-acs',
    'low-confidence',
    'medium-confidence',
    'high-confidence',
    'very-high-confidence',
    'max-challenges-exceeded',
    'non-payment-transaction-not-supported',
    '3ri-not-supported',
    'acs-technical-issue',
    'decoupled-authentication-required',
    'decoupled-authentication-timeout',
    'insufficient-decoupled-authentication-time',
    'authentication-attempted-but-not-performed',
  ],
  'challenge type': ['static', 'dynamic', 'out-of-band', 'decoupled'],
  'challenge cancel reason': Object.keys(CHALLENGE_CANCEL_REASON_CODES),
  'challenge preference': Object.keys(CHALLENGE_PREFERENCE_CODES),
  'whitelist status': [
    'merchant-trusted',
    'merchant-not-trusted',
    'not-eligible',
    'pending-confirmation',
    'request-to-trust-rejected',
    'unknown',
  ],
  'whitelist status source': ['3ds-server', 'directory-server', 'acs'],
};

/** Returns the kind and name of every meaning of a word. */
function kinds(word: string): string[] {
  return meaningsOf(word, MEANINGS).map(({ kind, name }) => `${kind}: ${name}`);
}

describe('meanings', () => {
  it.each(Object.entries(NAMES))('there is one of every %s', (kind, names) => {
    expect(MEANINGS.filter((meaning) => meaning.kind === kind).map(({ name }) => name)).toEqual(names);
    for (const name of names) expect(kinds(name)).toContain(`${kind}: ${name}`);
  });

  it('meanings hold every code of the method completion', () => {
    const found = MEANINGS.filter(({ kind }) => kind === 'method completion').map(({ code }) => code);
    expect(found).toEqual(['Y', 'N', 'U']);
  });

  it('meanings are sentences, each with what to do next', () => {
    for (const { means, next = 'It.', liability = 'It.' } of MEANINGS)
      for (const text of [means, next, liability]) expect(text).toMatch(/^[A-Z].*\.$/);
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
