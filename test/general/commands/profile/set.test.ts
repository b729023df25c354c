import { expect, it } from 'vitest';
import { ended, errorIn, succeeded, svcHere } from '../../../support/run-here.ts';
import { temporaryDirectory } from '../../../support/directory.ts';

it.each([
  ['WRN_OPT_UOT', `warning: "WRN_OPT_UOT" is not a known result code. Did you mean 'WRN_OPT_OUT'?\n`],
  ['OPT_OUT', 'warning: "OPT_OUT" is not a known result code.\n'],
  ['NEW_CODE_OF_2031', 'warning: (not shown: it may be a secret) is not a known result code.\n'],
  ['WRN_OPT_OUT', ''],
])('svc profile set warns of an action for an unknown result code, and stores it: %s', async (code, warning) => {
  const { stderr } = succeeded(await svcHere(['profile', 'set', `action.${code}`, 'exclude']));
  expect(stderr).toContain(`${warning}set action.${code} of profile default`);
});

it.each([
  ['output jsn', 'output must be one of table, json, jsonl, csv, yaml, not "jsn"', "Did you mean 'json'?"],
  ['time lcal', 'time must be one of utc, local, relative, not "lcal"', "Did you mean 'local'?"],
  ['certificates nope', 'certificates must be one of node, system, not "nope"', "Did you mean 'node'?"],
  [
    'action.WRN_OPT_OUT exlude',
    'action.WRN_OPT_OUT must be one of replace, keep, exclude, fix, not "exlude"',
    "Did you mean 'exclude'?",
  ],
])('svc profile set %s names the setting, what was typed and what was meant', async (line, message, hint) => {
  const result = await svcHere(['profile', 'set', ...line.split(' '), '-o', 'json']);
  ended(result, 2, { error: { message } });
  expect(errorIn(result)['hint']).toBe(hint);
});

it('SVC_OUTPUT with an unknown format is answered with it and the nearest one', async () => {
  ended(await svcHere(['--sandbox', 'logs'], { env: { SVC_OUTPUT: 'jsno' } }), 3, {
    error: {
      message: 'SVC_OUTPUT must be one of table, json, jsonl, csv, yaml, not "jsno"',
      hint: "Did you mean 'json'?",
    },
  });
});

it.each(['output', 'ledger', 'action.WRN_OPT_OUT'])(
  'svc profile set %s --unset says that nothing was set, and makes no profile',
  async (setting) => {
    const home = temporaryDirectory();
    ended(await svcHere(['profile', 'set', setting, '--unset'], { home }), 0, {
      stderr: `nothing to remove: ${setting} is not set in profile default\n`,
    });
    const { stdout } = await svcHere(['profile', 'list', '-o', 'json'], { home });
    const profiles = JSON.parse(stdout) as { name: string }[];
    expect(profiles.map(({ name }) => name)).not.toContain('default');
  },
);

it.each([
  [
    'output json',
    { SVC_OUTPUT: 'csv' },
    'SVC_OUTPUT is set: commands still use its value of output until you unset it',
  ],
  ['output json', { SVC_OUTPUT: 'json' }, undefined],
  ['ledger /ledger', { SVC_LEDGER: 'none' }, 'SVC_LEDGER is set: commands still use its value of ledger'],
  ['action.WRN_OPT_OUT keep', { SVC_OUTPUT: 'csv' }, undefined],
])('svc profile set %s says with %j that a variable precedes what it stored', async (line, env, warning) => {
  const { code, stderr } = await svcHere(['profile', 'set', ...line.split(' ')], { env });
  expect([code, stderr.includes(' is set: '), stderr]).toEqual([
    0,
    warning !== undefined,
    expect.stringContaining(warning ?? 'of profile default'),
  ]);
});

it('svc profile set certificates takes the value of the profile for no variable', async () => {
  const home = temporaryDirectory();
  for (const value of ['system', 'node'])
    expect((await svcHere(['profile', 'set', 'certificates', value], { home })).stderr).not.toContain(' is set: ');
});

it('svc profile use says that SVC_PROFILE precedes the profile that it chose', async () => {
  const home = temporaryDirectory();
  const use = async (name: string): Promise<string> =>
    (await svcHere(['profile', 'use', 'qa'], { home, env: { SVC_PROFILE: name } })).stderr;
  await svcHere(['profile', 'set', 'output', 'json', '--profile', 'qa'], { home });
  await svcHere(['profile', 'set', 'output', 'json', '--profile', 'prod'], { home });
  expect(await use('prod')).toContain(
    'SVC_PROFILE is set: commands still use the profile that it names until you unset',
  );
  expect(await use('qa')).not.toContain(' is set: ');
});

it('svc profile set output --unset removes what was set, once', async () => {
  const home = temporaryDirectory();
  await svcHere(['profile', 'set', 'output', 'json'], { home });
  expect((await svcHere(['profile', 'set', 'output', '--unset'], { home })).stderr).toContain('removed output');
  expect((await svcHere(['profile', 'set', 'output', '--unset'], { home })).stderr).toContain('nothing to remove');
});

it('svc profile set refuses a new profile whose name is like that of another one, and names that one', async () => {
  const home = temporaryDirectory();
  const run = (line: string) => svcHere([...line.split(' '), '-o', 'json'], { home });
  ended(await run('profile set ledger /mnt/ledger --profile production'), 0, 'the profile production is new');
  for (const [typed, meant] of [
    ['produciton', 'production'],
    ['deflaut', 'default'],
  ] as const) {
    ended(await run(`profile set output json --profile ${typed}`), 2, {
      error: { next: `svc profile set output json --profile ${meant}` },
    });
  }
  ended(await run('profile set output json --profile production'), 0, { unsaid: 'is new' });
  succeeded(await run('profile set output json --profile production2 --create'));
  ended(await run('profile set output --unset --profile other'), 3);
});

it('svc profile set base_url says that keys are not sent to it only where a key has another one', async () => {
  const home = temporaryDirectory();
  const run = (line: string, input = '') => svcHere(line.split(' '), { home, input });
  const said = 'keys stored for another base URL are not sent to this one';
  ended(await run('profile set base_url https://one.example'), 0, { unsaid: said });
  await run('login --no-check --management-key-stdin', 'a-key-of-one');
  expect((await run('profile set base_url https://one.example')).stderr).not.toContain(said);
  expect((await run('profile set base_url https://two.example')).stderr).toContain(said);
  expect((await run('profile set base_url --unset')).stderr).toContain(said);
  expect((await run('profile set base_url https://one.example/')).stderr).not.toContain(said);
});
