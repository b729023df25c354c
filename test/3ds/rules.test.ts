import { describe, expect, it } from 'vitest';
import { checkBody } from '../../src/3ds/check-body.ts';
import type { SessionType } from '../../src/schema/three-ds/values.ts';
import { SESSIONS_OF } from '../support/interface.ts';
import { ALWAYS_NEEDED, COMBINATIONS, NEEDED_CASES } from '../support/three-ds-needs.ts';
import { changed, fullBody } from './bodies.ts';

/** Returns the paths of the rules that a body breaks. */
function errorFor(body: unknown, session?: SessionType): string[] {
  return checkBody(body, session).map(({ path }) => path);
}

/** Returns the paths that a body of this type breaks without a time limit, for an unknown session type. */
function withoutTime(type: string): string[] {
  return errorFor(changed(fullBody('payment', type), 'decoupled_challenge_max_time', undefined));
}

describe('which authentication types go with which session type', () => {
  const cases = Object.entries(SESSIONS_OF).flatMap(([type, allowed]) =>
    (['customer', 'merchant'] as const).map((session) => ({ type, session, fits: allowed.includes(session) })),
  );

  it.each(cases)('R57: the type $type fits a $session session: $fits', ({ type, session, fits }) => {
    expect(errorFor(fullBody('payment', type), session)).toEqual(fits ? [] : ['authentication_type']);
  });

  it('R57: the check of authentication types names the session types and a type that would fit', () => {
    const [violation] = checkBody(fullBody('payment', 'top-up'), 'customer');
    expect(violation?.message).toContain('sessions of type merchant only');
    expect(SESSIONS_OF[String(violation?.example)]).toContain('customer');
  });

  it('the check of authentication types knows the session type by itself where only one fits, and asks least where both do', () => {
    expect(withoutTime('top-up')).toEqual(['decoupled_challenge_max_time']);
    expect(withoutTime('payment-transaction')).toEqual([]);
    expect(withoutTime('recurring-transaction')).toEqual([]);
  });
});

describe('what is needed when', () => {
  it.each(NEEDED_CASES)(
    'R57: the field $path is needed for $combination: $isNeeded',
    ({ path, combination, isNeeded }) => {
      const [category, type, session] = combination;
      const body = fullBody(category, type);
      expect(errorFor(body, session)).toEqual([]);
      expect(errorFor(changed(body, path, undefined), session)).toEqual(isNeeded ? [path] : []);
    },
  );

  it.each(ALWAYS_NEEDED)('R57: the field %s is always needed', (path) => {
    for (const [category, type, session] of COMBINATIONS)
      expect(errorFor(changed(fullBody(category, type), path, undefined), session)).toEqual([path]);
  });

  it('R57: a time limit where a decoupled challenge is requested, also in a customer session', () => {
    const body = changed(fullBody(), 'decoupled_challenge_max_time', undefined);
    expect(errorFor(changed(body, 'request_decoupled_challenge', true), 'customer')).toEqual([
      'decoupled_challenge_max_time',
    ]);
    expect(errorFor(changed(body, 'request_decoupled_challenge', false), 'customer')).toEqual([]);
    const merchant = changed(changed(body, 'authentication_type', 'add-card'), 'request_decoupled_challenge', false);
    expect(errorFor(merchant, 'merchant')).toEqual(['decoupled_challenge_max_time']);
  });

  it('R57: every violation at once, in the order of the interface, each with the rule and an example', () => {
    const violations = checkBody(
      { authentication_category: 'payment', authentication_type: 'recurring-transaction' },
      'merchant',
    );
    expect(violations.map(({ path }) => path)).toEqual([
      'decoupled_challenge_max_time',
      'purchase_info',
      'merchant_info',
      'requestor_info',
      'cardholder_info',
    ]);
    let corrected: unknown = { authentication_category: 'payment', authentication_type: 'recurring-transaction' };
    for (const { path, message, example } of violations) {
      expect(message).toMatch(/^is needed/);
      corrected = changed(corrected, path, example);
    }
    expect(errorFor(corrected, 'merchant')).toEqual([]);
  });

  it('the check of needed fields goes by the value that was probably meant where category or type are mistyped', () => {
    const body = { ...fullBody('paymet', 'recuring-transaction'), merchant_info: undefined, purchase_info: {} };
    const bare = JSON.parse(JSON.stringify(body)) as unknown;
    expect(errorFor(bare)).toEqual(expect.arrayContaining(['merchant_info', 'purchase_info.recurring_frequency']));
  });
});
