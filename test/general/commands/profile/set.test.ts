import { expect, it } from 'vitest';
import { svcHere } from '../../../support/run-here.ts';

it('svc profile set warns of an action for a mistyped result code, and stores it', async () => {
  const typed = await svcHere(['profile', 'set', 'action.WRN_OPT_UOT', 'exclude']);
  expect([typed.code, typed.stderr]).toEqual([0, expect.stringContaining("Did you mean 'WRN_OPT_OUT'?")]);
  expect(typed.stderr).toContain('set action.WRN_OPT_UOT of profile default');
  for (const code of ['WRN_OPT_OUT', 'NEW_CODE_OF_2031'])
    expect((await svcHere(['profile', 'set', `action.${code}`, 'exclude'])).stderr).not.toContain('Did you mean');
});
