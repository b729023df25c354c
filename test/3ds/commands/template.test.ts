import { describe, expect, it } from 'vitest';
import { ended, succeeded } from '../../support/run-here.ts';
import { template } from '../../../src/3ds/commands/template.ts';
import { FakeClock } from '../../support/clock.ts';
import { Place } from './support.ts';
import { BODY } from '../../../src/schema/three-ds/fields.ts';

const place = new Place();

describe('3ds template', () => {
  it('svc 3ds template prints commented JSON that validate accepts', async () => {
    const clock = new FakeClock();
    const argv = ['3ds', 'template', 'recurring-transaction', '--session-type', 'merchant'];
    const { stdout } = succeeded(await place.svc(argv, { clock }));
    expect(stdout).toMatch(/"recurring_frequency": "28" \/\/ /);
    const validate = ['3ds', 'validate', '-', '--session-type', 'merchant'];
    succeeded(await place.svc(validate, { clock, input: stdout }));
    const table = await place.svc([...argv, '-o', 'table'], { clock });
    expect(table.stdout).toBe(stdout);
  });

  it('svc 3ds template without a type names the types, and prints nothing into a file', async () => {
    ended(await place.svc(['3ds', 'template']), 2, /Choose one of: payment-transaction, .*add-card/, { stdout: '' });
  });

  it.each(['json', 'jsonl'])('svc 3ds template prints plain data where %s is requested', async (format) => {
    const { stdout } = await place.svc(['3ds', 'template', 'add-card', '-o', format]);
    expect(JSON.parse(stdout)).toMatchObject({
      authentication_category: 'non-payment',
      authentication_type: 'add-card',
    });
    const chosen = await place.svc(['3ds', 'template', 'add-card', '-o', format, '--fields', 'requestor_info.url']);
    expect(JSON.parse(chosen.stdout)).toEqual({ requestor_info: { url: 'https://shop.example' } });
  });

  it.each([
    [['add-crd'], /add-card/],
    [['top-up', '--session-type', 'customer'], /goes with sessions of type merchant only/],
    [['payment-transaction', '--category', 'paid'], /payment, non-payment/],
    [[], /authentication-type/],
  ])('%j is a usage error', async (argv, words) => {
    ended(await place.svc(['3ds', 'template', ...argv]), 2, words, { stdout: '' });
  });
});

describe('svc 3ds template --currency', () => {
  it('R95: svc 3ds template --currency has the number of the currency and its exponent', async () => {
    for (const typed of ['JPY', 'jpy', '392']) {
      const { stdout } = await place.svc(['3ds', 'template', 'payment-transaction', '--currency', typed, '-o', 'json']);
      expect(JSON.parse(stdout)).toMatchObject({ purchase_info: { amount: '1000', currency: '392', exponent: '0' } });
    }
  });

  it.each([
    ['payment-transaction', 'XAU', /must be the code of a currency of ISO 4217/],
    ['payment-transaction', 'USX', /must be the code of a currency of ISO 4217/],
    ['payment-transaction', 'BGN', /lists BGN as historic since 2026-01-01.*EUR replaced it/s],
    ['add-card', 'USD', /this body has no purchase/],
  ])('svc 3ds template %s --currency %s is a usage error', async (type, currency, words) => {
    ended(await place.svc(['3ds', 'template', type, '--currency', currency]), 2, words, { stdout: '' });
  });
});

it('the fields of svc 3ds template are the members of a body', () => {
  const members = [...BODY.members.keys()];
  expect(template.fields?.map((field) => field.replace('.*', ''))).toEqual(members);
});
