import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sandboxThreeDsCards } from '../../../src/emulator/vault/cards.ts';
import { TEST_CARDS, THREE_DS_CARDS } from '../../../src/emulator/seed/test-cards.ts';
import { JCB, VISA, tokens } from './token-service.ts';

it('a card token of a test card does what that card does, for both features', async () => {
  const on = await tokens();
  for (const { number, scenario } of THREE_DS_CARDS) {
    const { id } = await on.create(number);
    const session = await on.created({ token_id: id, type: 'customer' });
    const twin = sandboxThreeDsCards().find((card) => card.scenario === scenario);
    const other = await on.created({ token_id: twin?.token, type: 'customer' });
    expect(session.method_url === undefined).toBe(other.method_url === undefined);
  }
  const rejected = await on.create('5405001111111116');
  expect(await on.outcome(rejected.id)).toBe('rejected');
  const optedOut = await on.create('4035501000000008', { expiration_month: 12, expiration_year: 2027 });
  const undated = await on.create('4035501000000008');
  const renewed = await on.create('4012888888881881', { expiration_month: 12, expiration_year: 2023 });
  const header = 'token,expiration_year,expiration_month,merchant_id';
  const job = await on.process(`${header}\n${optedOut.id},,,\n${undated.id},,,\n${renewed.id},,,\n`);
  const lines = (await (await fetch(job.download_url)).text()).trimEnd().split('\n').slice(1);
  expect(lines.map((line) => line.split(',').at(-1))).toEqual(['WRN_OPT_OUT', 'ERR_INVALID_EXP_DATE', 'UPD_PAN']);
});

it('R06: a card token leaves no card number in any file of the sandbox', async () => {
  const on = await tokens();
  for (const { number } of [...THREE_DS_CARDS, ...TEST_CARDS, { number: VISA }, { number: JCB }]) {
    const token = await on.create(number, { expiration_month: 12, expiration_year: 2030 });
    expect(JSON.stringify(token)).not.toContain(number);
  }
  const { id } = await on.created({ token_id: (await on.create(VISA)).id, type: 'customer' });
  await on.authenticated(id);
  const texts = readdirSync(on.directory)
    .map((name) => join(on.directory, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'utf8'));
  expect(texts.join('')).toContain('"firstSix":"424242"');
  for (const { number } of [...THREE_DS_CARDS, ...TEST_CARDS, { number: VISA }, { number: JCB }])
    expect(texts.some((text) => text.includes(number))).toBe(false);
});
