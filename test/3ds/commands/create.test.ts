import { expect, it } from 'vitest';
import { sandboxThreeDsCards } from '../../../src/emulator/vault/cards.ts';
import { PUBLISHED_TEST_CARDS } from '../../support/card-numbers.ts';
import { ended, svcHere } from '../../support/run-here.ts';

function create(...options: string[]): ReturnType<typeof svcHere> {
  return svcHere(['--sandbox', '3ds', 'create', ...options]);
}

it('svc 3ds create --card takes a test card by its scenario, the start of it, its number or the last four digits', async () => {
  const card = sandboxThreeDsCards().find(({ scenario }) => scenario === 'Authentication Rejected');
  for (const name of [
    'Authentication Rejected',
    'authentication rej',
    card?.number ?? '',
    card?.number.slice(-4) ?? '',
  ]) {
    const { stdout } = await create('--card', name, '--dry-run', '-o', 'json');
    expect(stdout).toContain(card?.token);
  }
  ended(await create('--card', 'Authentication Rejected', '--jq', '.id'), 0, {
    stdout: expect.stringMatching(/^[0-9a-f-]{36}\n$/),
  });
});

it('svc 3ds create --card refuses an unknown card, a second token, a card number and another service', async () => {
  for (const name of ['Nobody', '9999', '116'])
    expect((await create('--card', name)).stderr).toContain('no test card has this scenario or number');
  expect((await create('--card', 'Rejected', '--token', '5f0c')).stderr).toContain('exactly one of --card');
  ended(await create('--card', PUBLISHED_TEST_CARDS[0]), 13, { unsaid: PUBLISHED_TEST_CARDS[0].slice(0, 6) });
  ended(
    await svcHere(['3ds', 'create', '--card', 'Rejected', '--type', 'customer'], {
      baseUrl: new URL('https://service.example'),
    }),
    2,
    'a card is a test card of the sandbox',
  );
});

it.each([
  ['customer', []],
  ['merchant', ['--type', 'merchant']],
])('svc 3ds create makes a session of type %s with %j', async (type, options) => {
  const { stdout } = await create('--token', '00000000-0000-4000-8000-000000000001', '--dry-run', ...options);
  expect(stdout).toContain(`"type": "${type}"`);
});
