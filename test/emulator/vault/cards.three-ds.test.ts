import { expect, it } from 'vitest';
import { sandboxCards, sandboxThreeDsCards } from '../../../src/emulator/vault/cards.ts';
import { THREE_DS_CARDS } from '../../../src/emulator/seed/test-cards.ts';
import { threeDsSandbox } from '../three-ds/three-ds-harness.ts';

it('the seeded cards of 3-D Secure have a token and a token intent each, unlike any other, and show no whole number', () => {
  const cards = sandboxThreeDsCards();
  expect(cards).toHaveLength(THREE_DS_CARDS.length);
  const ids = cards.flatMap((card) => [card.token, card.token_intent]);
  const others = sandboxCards().map((card) => card.token);
  expect(new Set([...ids, ...others]).size).toBe(ids.length + others.length);
  expect(sandboxThreeDsCards(2)[0]?.token).not.toBe(cards[0]?.token);
  for (const { number } of cards) expect(number).toMatch(/^\d{6}\*{5,6}\d{4}$/);
});

it('the seeded cards of 3-D Secure are known to the Account Updater by what their number means there', async () => {
  const on = await threeDsSandbox();
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
  const { id } = await on.created({ token_id: lines[0]?.split(',')[3], type: 'customer' });
  expect((await on.authenticated(id)).authentication_status).toBe('successful');
});
