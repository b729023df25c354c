import { writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { ended } from '../../support/run-here.ts';
import { sandboxCards } from '../../../src/emulator/vault/cards.ts';
import { productionDesk } from '../../au/commands/support.ts';
import { LAUNCHER } from '../../support/svc.ts';
import { TerminalSession } from '../../support/terminal.ts';

// The test starts several processes, which take long on a busy machine.
it('svc 3ds authenticate asks for confirmation at a production tenant, but does not ask in a pipe', async () => {
  const { home, env } = await productionDesk();
  const svc = (line: string) => home.svc(line.split(' '), { env });
  const created = await svc(`3ds create --token ${sandboxCards()[0]?.token ?? ''} --type customer`);
  const { id } = JSON.parse(created.stdout) as { id: string };
  writeFileSync(home.file('body.json'), (await svc('3ds template payment-transaction')).stdout);
  const line = `3ds authenticate ${id} --file body.json`;
  const declined = new TerminalSession(process.execPath, [LAUNCHER, ...line.split(' ')], {
    cwd: home.path,
    env: home.environment(env),
    columns: 120,
  });
  onTestFinished(() => declined.kill());
  await declined.waitFor('PRODUCTION tenant "Acme": authenticate the session for 10.00 USD? This may be billed. [y/N]');
  declined.type('n\r');
  expect((await declined.exited).exitCode).toBe(2);
  expect(declined.screen()).toContain('nothing was sent');
  expect((await svc(`3ds show ${id} --jq .authentication.authentication_status`)).stdout).toMatch(/^(?:null\n)?$/);
  ended(await svc(line), 0, {
    stderr: expect.stringMatching(/^amount: 10\.00 USD\nPRODUCTION Acme \([0-9a-f-]{36}\)\n/),
    row: { authentication_status: expect.any(String) },
  });
});
