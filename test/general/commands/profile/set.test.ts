import { expect, it } from 'vitest';
import { temporaryDirectory } from '../../../cli/config/support/system.ts';
import { svcHere } from '../../../support/run-here.ts';

it('svc profile set warns of an action for a mistyped result code, and stores it', async () => {
  const typed = await svcHere(['profile', 'set', 'action.WRN_OPT_UOT', 'exclude']);
  expect([typed.code, typed.stderr]).toEqual([0, expect.stringContaining("Did you mean 'WRN_OPT_OUT'?")]);
  expect(typed.stderr).toContain('set action.WRN_OPT_UOT of profile default');
  for (const code of ['WRN_OPT_OUT', 'NEW_CODE_OF_2031'])
    expect((await svcHere(['profile', 'set', `action.${code}`, 'exclude'])).stderr).not.toContain('Did you mean');
});

it.each(['output', 'ledger', 'action.WRN_OPT_OUT', 'management_key_command'])(
  'svc profile set %s --unset says that nothing was set, and makes no profile',
  async (setting) => {
    const home = temporaryDirectory();
    const unset = await svcHere(['profile', 'set', setting, '--unset'], { home });
    expect([unset.code, unset.stderr]).toEqual([0, `nothing to remove: ${setting} is not set in profile default\n`]);
    const { stdout } = await svcHere(['profile', 'list', '--jq', '.[].name'], { home });
    expect(stdout).not.toContain('default');
  },
);

it('svc profile set output --unset removes what was set, once', async () => {
  const home = temporaryDirectory();
  await svcHere(['profile', 'set', 'output', 'json'], { home });
  expect((await svcHere(['profile', 'set', 'output', '--unset'], { home })).stderr).toContain('removed output');
  expect((await svcHere(['profile', 'set', 'output', '--unset'], { home })).stderr).toContain('nothing to remove');
});
