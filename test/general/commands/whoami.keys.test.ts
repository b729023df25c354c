import { describe, expect, it } from 'vitest';
import { ended, errorIn, succeeded } from '../../support/run-here.ts';
import { DAY_MS, operator, rowsOf } from './stored-keys.ts';

describe('the age of a key', () => {
  it('svc whoami --max-key-age ends with 10 for a key that was stored longer ago, and names the next command', async () => {
    const { svc, clock } = await operator();
    await svc('login --management-key-stdin', { input: 'sandbox-management-key' });
    await clock.advance(90 * DAY_MS);
    succeeded(await svc('whoami --max-key-age 90d'));
    await clock.advance(3_600_000);
    ended(await svc('whoami --max-key-age 90d'), 10, {
      row: { management_key: { state: 'accepted' } },
      error: {
        code: 'threshold',
        message: 'the management key (profile default) was stored 90d 1h ago; allowed: 90d',
        next: 'svc login --rotate',
        keys: [{ type: 'management', age_days: 90 }],
      },
    });
    await svc('login --rotate --management-key-stdin', { input: 'sandbox-management-key-read-only' });
    succeeded(await svc('whoami --max-key-age 90d'));
  });

  it('svc whoami says that the age of a key from a variable or a command is not known, which is 10 with --strict', async () => {
    const { svc } = await operator();
    const more = { SVC_PRIVATE_API_KEY: 'sandbox-private-key' };
    ended(
      await svc('whoami --max-key-age 90d', { more }),
      0,
      'the age of the private key (SVC_PRIVATE_API_KEY) is not known',
    );
    ended(await svc('whoami --max-key-age 90d --strict', { more }), 10);
    await svc('login --no-check --private-key-command pwd');
    const command = await svc('doctor -o json --max-key-age 90d');
    expect(rowsOf(command).find(({ check }) => check === 'private key age')).toMatchObject({
      result: 'warning',
      found: 'not known (profile default (command pwd)); allowed: 90d',
    });
    expect(errorIn(await svc('whoami --strict'))['message']).toBe('--strict needs --max-key-age');
  });

  it('svc whoami takes no age from a time of storing in the future, or where an editor removed it', async () => {
    const { svc, edit } = await operator();
    await svc('login --management-key-stdin', { input: 'sandbox-management-key' });
    edit((text) => text.replace(/"stored_at": "2026/, '"stored_at": "2036'));
    ended(await svc('whoami --max-key-age 90d --strict'), 10);
    edit((text) => text.replace(/,\s*"stored_at": "[^"]*"/, ''));
    ended(await svc('whoami --max-key-age 90d --strict'), 10);
    succeeded(await svc('whoami --max-key-age 90d'));
  });
});

it('svc whoami ends with 0 where a key is missing, or one variable has the only key', async () => {
  const { svc } = await operator();
  for (const more of [{ SVC_PRIVATE_API_KEY: 'sandbox-private-key' }, { SVC_API_KEY: 'sandbox-private-key' }])
    expect(await svc('whoami -o json', { more: { ...more } })).toMatchObject({ code: 0, stderr: '' });
});
