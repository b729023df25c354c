import { expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { ended, errorIn, succeeded } from '../../support/run-here.ts';
import { openMachine } from '../commands/machine.ts';
import { openQuickDesk } from '../commands/support.ts';
import { DAY } from '../ledger/machines.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';

it.each([
  { off: -8, later: 6, code: 0 },
  { off: 30, later: 15, code: 6 },
])(
  'a file without a cycle that another machine sent $later days ago ends with $code although the clock of that machine is $off days off',
  async ({ off, later, code }) => {
    const machine = await openMachine();
    const { SVC_LEDGER } = sharedLedger(machine.path('ledger'));
    const [runner, laptop] = ['runner', 'laptop'].map((name) => ({ SVC_LEDGER, SVC_STATE_DIR: machine.path(name) }));
    const wrong = new FakeClock({ start: machine.clock.now() + off * DAY });
    succeeded(await machine.svc('au submit tokens.csv --wait --out first.csv', runner, wrong));
    await machine.clock.advance(later * DAY);
    const again = ended(await machine.svc('au submit tokens.csv --wait --out results.csv', laptop), code, {
      uploads: 1,
    });
    if (code === 0) return;
    expect(errorIn(again)).toMatchObject({
      message: expect.stringContaining('were sent 15d ago'),
      next: expect.stringMatching(/^(?!.* --wait .* --wait).* --cycle \S+$/),
    });
  },
);

it('R79: a file without a cycle whose job took a week ends with 0 on another machine for a week after its end', async () => {
  const desk = await openQuickDesk({ processingMs: 6.9 * DAY });
  const shared = sharedLedger(desk.home.file('ledger'));
  const on = (name: string, line: string) => desk.svc(line, { ...shared, SVC_STATE_DIR: desk.home.file(name) });
  for (const line of ['au submit tokens.csv', 'au resume']) {
    succeeded(await on('runner', line));
    await desk.clock.advance(6.95 * DAY);
  }
  succeeded(await on('laptop', 'au submit tokens.csv --wait --out soon.csv'));
  await desk.clock.advance(DAY);
  ended(await on('desktop', 'au submit tokens.csv --wait --out late.csv'), 6, { uploads: 1 });
});
