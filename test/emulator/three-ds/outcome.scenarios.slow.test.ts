import { expect, it } from 'vitest';
import { sandboxThreeDsCards } from '../../../src/emulator/vault/cards.ts';
import { type ScenarioName, SCENARIOS } from '../../../src/emulator/seed/test-cards.ts';
import { PAYMENT, postForm, threeDsSandbox } from './three-ds-harness.ts';

const ERRORS: readonly [ScenarioName, number, RegExp][] = [
  ['3DS Directory Server Error', 424, /new session/],
  ['Internal 3DS Server Error', 500, /3DS server/],
];

it('the scenarios of the test cards are those of every card that names them, with the indicators of its network', async () => {
  const on = await threeDsSandbox();
  const indicators: Record<string, Set<string>> = {};
  for (const { token, network, scenario } of sandboxThreeDsCards()) {
    const { id, card_brand } = await on.created({ token_id: token, type: 'customer' });
    expect(card_brand).toBe(network);
    const answer = await on.authenticate(id, PAYMENT);
    const failed = ERRORS.find(([name]) => name === scenario)?.[1];
    expect([scenario, answer.status]).toEqual([scenario, failed ?? 200]);
    if (failed !== undefined) continue;
    const { authentication_status, eci } = (await answer.json()) as Record<string, string>;
    const expected = 'challenge' in SCENARIOS[scenario] ? 'challenge' : SCENARIOS[scenario].ends;
    expect([scenario, authentication_status]).toEqual([scenario, expected]);
    const { acs_challenge_url: page, authentication_challenge_type: type } = await on.result(id);
    const reply = type === 'out-of-band' ? { answer: 'approve' } : { answer: 'code', code: '123456' };
    if (expected === 'challenge') await postForm(page ?? '', reply);
    const { authentication_status: end } = await on.result(id);
    expect([scenario, end]).toEqual([scenario, SCENARIOS[scenario].ends]);
    if (eci !== undefined) (indicators[`${network} ${authentication_status}`] ??= new Set()).add(eci);
  }
  expect(Object.fromEntries(Object.entries(indicators).map(([name, set]) => [name, [...set].join()]))).toEqual({
    'mastercard successful': '02',
    'mastercard attempted': '01',
    'mastercard failed': '00',
    'mastercard unavailable': '00',
    'mastercard rejected': '00',
    'visa successful': '05',
    'visa attempted': '06',
    'visa failed': '07',
    'visa unavailable': '07',
    'visa rejected': '07',
    'discover successful': '05',
    'amex successful': '05',
  });
});
