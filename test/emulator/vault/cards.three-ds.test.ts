import { expect, it } from 'vitest';
import { sandboxCards, sandboxThreeDsCards } from '../../../src/emulator/vault/cards.ts';
import { networkOf, THREE_DS_CARDS } from '../../../src/emulator/seed/test-cards.ts';
import { type Problem } from '../three-ds/three-ds-harness.ts';
import { SHOWN_DIGITS } from '../../support/card-numbers.ts';
import { JCB, VISA, tokens } from './token-service.ts';
const DINERS = '30569309025904';

it('the seeded cards of 3-D Secure have a token and a token intent each, unlike any other, and show no whole number', () => {
  const cards = sandboxThreeDsCards();
  expect(cards).toHaveLength(THREE_DS_CARDS.length);
  const ids = cards.flatMap((card) => [card.token, card.token_intent]);
  const others = sandboxCards().map((card) => card.token);
  expect(new Set([...ids, ...others]).size).toBe(ids.length + others.length);
  expect(sandboxThreeDsCards(2)[0]?.token).not.toBe(cards[0]?.token);
  for (const { number, network } of cards) {
    expect(number).toMatch(/^\d{6}\*{5,6}\d{4}$/);
    expect(networkOf(number)).toBe(network);
  }
});

it('the seeded cards of 3-D Secure are known to the Account Updater by what their number means there', async () => {
  const on = await tokens();
  const cards = sandboxThreeDsCards();
  const tokenOf = (number: string) => cards[THREE_DS_CARDS.findIndex((card) => card.number === number)]?.token;
  const [both, plain] = [tokenOf('4111111111111111'), tokenOf('4000020000000000')];
  const header = 'token,expiration_year,expiration_month,merchant_id';
  const job = await on.process(`${header}\n${both},,,\n${plain},,,\nunknown,26,01,\n`);
  const lines = (await (await fetch(job.download_url)).text()).trimEnd().split('\n').slice(1);
  expect(lines.map((line) => [line.split(',')[0], line.split(',').at(-1)])).toEqual([
    [both, 'UPD_PAN'],
    ['unknown', 'ERR_INVALID_TOKEN'],
  ]);
  expect(await on.outcome(lines[0]?.split(',')[3] ?? '')).toBe('successful');
});

it('a card token is created with its number masked', async () => {
  const on = await tokens();
  const token = await on.create(VISA, { expiration_month: 3, expiration_year: 2030, cvc: '123' });
  expect(token).toMatchObject({
    type: 'card',
    data: { number: '424242******4242', expiration_month: 3, expiration_year: 2030 },
  });
  expect(token.data).not.toHaveProperty('cvc');
  const text = await on.create(VISA, { expiration_month: '03', expiration_year: '2030' });
  expect(text.data).toEqual(token.data);
  expect(text.id).not.toBe(token.id);
  expect((await on.create(VISA)).data).toEqual({ number: '424242******4242' });
});

it('a card token of any other card is authenticated without a challenge, and never updated', async () => {
  const on = await tokens();
  const visa = await on.create(VISA, { expiration_month: 1, expiration_year: 2031 });
  const jcb = await on.create(JCB);
  expect([await on.outcome(visa.id), await on.outcome(jcb.id)]).toEqual(['successful', 'successful']);
  const job = await on.process(`token,expiration_year,expiration_month,merchant_id\n${visa.id},,,\n`);
  expect(await (await fetch(job.download_url)).text()).toMatch(/^token,[^\n]*\n$/);
  const diners = await on.create(DINERS);
  const answer = await on.post('/3ds/sessions', { token_id: diners.id, type: 'customer' });
  expect(answer.status).toBe(422);
});

it('a card token is refused by field when its body is wrong, and nothing of it is repeated', async () => {
  const on = await tokens();
  const cases: [unknown, string[]][] = [
    [{}, ['type']],
    [undefined, ['type']],
    [[], ['type']],
    [{ type: 'token', data: { number: VISA } }, ['type']],
    [{ type: 'card' }, ['data.number']],
    [{ type: 'card', data: VISA }, ['data.number']],
    [{ type: 'card', data: { number: Number(VISA) } }, ['data.number']],
    [{ type: 'card', data: { number: '4242 4242 4242 4242' } }, ['data.number']],
    [{ type: 'card', data: { number: '4242424242424241' } }, ['data.number']],
    [{ type: 'card', data: { number: '42424242424' } }, ['data.number']],
    [{ type: 'card', data: { number: '0'.repeat(20) } }, ['data.number']],
    [
      { type: 'card', data: { number: '1', expiration_month: 13, expiration_year: 30 } },
      ['data.expiration_month', 'data.expiration_year', 'data.number'],
    ],
    [{ type: 'card', data: { number: VISA, expiration_month: {} } }, ['data.expiration_month']],
    [{ type: 'card', data: { number: VISA, expiration_month: '0' } }, ['data.expiration_month']],
  ];
  for (const [body, fields] of cases) {
    const answer = await on.post('/tokens', body);
    const problem = (await answer.json()) as Problem;
    expect([body, answer.status, Object.keys(problem.errors ?? {}).toSorted()]).toEqual([body, 400, fields]);
    expect(JSON.stringify(problem)).not.toMatch(SHOWN_DIGITS);
  }
});
