import { expect, it } from 'vitest';
import { ended, succeeded } from '../../support/run-here.ts';
import { DAY_MS, operator, rowsOf } from './stored-keys.ts';

it('svc doctor mentions the age of a stored key, and fails with 10 only with --max-key-age', async () => {
  const { svc, clock } = await operator();
  await svc('login --management-key-stdin', { input: 'sandbox-management-key' });
  await clock.advance(400 * DAY_MS);
  const more = { SVC_PRIVATE_API_KEY: 'sandbox-private-key' };
  const plain = rowsOf(await svc('doctor -o json', { more }));
  expect(plain.find(({ check }) => check === 'management key')).toMatchObject({
    result: 'ok',
    found: expect.stringMatching(/\(profile default, stored 400d ago\)$/),
  });
  expect(plain.map(({ check }) => check)).not.toContain('management key age');
  const limited = ended(await svc('doctor -o json --max-key-age 90d', { more }), 10);
  expect(rowsOf(limited).filter(({ check }) => String(check).endsWith('age'))).toMatchObject([
    { result: 'failed', found: 'stored 400d ago; allowed: 90d', next: 'svc login --rotate' },
    { result: 'warning', found: 'not known (SVC_PRIVATE_API_KEY); allowed: 90d' },
  ]);
  succeeded(await svc('doctor -o json --max-key-age 500d', { more }));
  ended(await svc('doctor -o json --max-key-age 500d --strict', { more }), 10);
});

it('leaves the config file and the age of the key, unless the key or the base URL is another one', async () => {
  const { svc, clock, config, edit } = await operator();
  const login = 'login --management-key-stdin --private-key-stdin';
  await svc(login, { input: 'sandbox-management-key\nsandbox-private-key' });
  const before = config();
  await clock.advance(100 * DAY_MS);
  succeeded(await svc(login, { input: 'sandbox-management-key\nsandbox-private-key' }));
  expect(config()).toBe(before);
  ended(await svc('whoami --max-key-age 90d'), 10);
  edit((text) => text.replaceAll(/"base_url": "[^"]*"/g, '"base_url": "https://earlier.example"'));
  await svc(login, { input: 'sandbox-management-key\nsandbox-private-key' });
  succeeded(await svc('whoami --max-key-age 90d'));
});

it('R87: svc whoami ends with 4 or 3 although the other key is good, after it printed both', async () => {
  const { svc } = await operator();
  await svc('login --management-key-stdin', { input: 'sandbox-management-key' });
  for (const [more, code, state] of [
    [{ SVC_PRIVATE_API_KEY: 'sandbox-private-key-expired' }, 4, 'refused'],
    [{ SVC_PRIVATE_API_KEY: 'sandbox-management-key' }, 4, 'other kind'],
    [{ SVC_PRIVATE_API_KEY_FILE: '/nonexistent' }, 3, 'unusable'],
  ] as const)
    for (const line of ['whoami -o json', 'whoami -o json --max-key-age 90d --strict']) {
      ended(await svc(line, { more }), code, {
        row: { management_key: { state: 'accepted' }, private_key: { state } },
        error: { exit_code: code },
      });
    }
});
