import { readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, it } from 'vitest';
import { ended, type HereResult, succeeded, svcIn } from '../../support/run-here.ts';
import { Home } from '../../support/svc.ts';

const REQUEST = 'token,expiration_year,expiration_month,merchant_id\na,,,\nb,,,\nc,,,\n';
const RESULTS = 'token,result_code\na,WRN_OPT_OUT\nb,WRN_ISSUER_NO_DATA\nc,ERR_INVALID_PAN\n';

let home: Home;
beforeEach(() => {
  home = new Home();
  writeFileSync(home.file('q.csv'), REQUEST);
  writeFileSync(home.file('r.csv'), RESULTS);
});

function svc(line: string): Promise<HereResult> {
  return svcIn(home.path, line.split(' '));
}

/** Returns the group of each code in the report. */
async function steps(options = ''): Promise<Record<string, string>> {
  const { stdout } = succeeded(await svc(`au report r.csv -o json${options}`));
  const { codes } = JSON.parse(stdout) as { codes: { code: string; group: string }[] };
  return Object.fromEntries(codes.map(({ code: name, group }) => [name, group]));
}

const DEFAULTS = { WRN_OPT_OUT: 'consider', WRN_ISSUER_NO_DATA: 'consider', ERR_INVALID_PAN: 'exclude' };

it('the step of a result code comes from the option, else the profile, code by code', async () => {
  expect(await steps()).toEqual(DEFAULTS);
  for (const code of Object.keys(DEFAULTS))
    expect(await svc(`profile set action.${code} exclude`)).toMatchObject({ code: 0 });
  expect(await steps(' --action ERR_INVALID_PAN=keep')).toEqual({
    WRN_OPT_OUT: 'exclude',
    WRN_ISSUER_NO_DATA: 'exclude',
    ERR_INVALID_PAN: 'keep',
  });
  expect(await steps()).toEqual({ WRN_OPT_OUT: 'exclude', WRN_ISSUER_NO_DATA: 'exclude', ERR_INVALID_PAN: 'exclude' });
});

it('the step of a result code is one for the next request and for the files of a split, and is told with its reason', async () => {
  await svc('profile set action.WRN_OPT_OUT exclude');
  await svc('profile set action.ERR_INVALID_PAN keep');
  succeeded(await svc('au next q.csv r.csv --out next.csv --excluded excluded.csv'));
  expect(readFileSync(home.file('next.csv'), 'utf8').split('\n').slice(1, 3)).toEqual(['b,,,', 'c,,,']);
  expect(readFileSync(home.file('excluded.csv'), 'utf8')).toContain('(excluded by your choice)');
  const { stdout } = await svc('au report r.csv -o table --split-into todo');
  expect(stdout).toContain('leave the token out of future requests (your choice)');
  expect(readFileSync(home.file('todo/exclude.csv'), 'utf8')).toContain('\na,');
  expect(readFileSync(home.file('todo/keep.csv'), 'utf8')).toContain('\nc,');
});

it('the step of a result code is shown with the profile, and can be taken back', async () => {
  await svc('profile set action.WRN_OPT_OUT exclude');
  const shown = await svc('profile show -o json');
  expect(JSON.parse(shown.stdout)).toMatchObject({ actions: { WRN_OPT_OUT: 'exclude' } });
  expect((await svc('profile show --fields actions.WRN_OPT_OUT -o csv')).stdout).toContain('exclude');
  succeeded(await svc('profile set action.WRN_OPT_OUT --unset'));
  expect(await steps()).toEqual(DEFAULTS);
  const config = JSON.parse(readFileSync(home.file('.config/svc/config.json'), 'utf8')) as unknown;
  expect(JSON.stringify(config)).not.toContain('actions');
});

it.each([
  ['a step that does not exist', 'profile set action.WRN_OPT_OUT drop', 2],
  ['a code that is none', 'profile set action.WRN-OPT exclude', 2],
  ['a setting that does not exist', 'profile set actions keep', 2],
])('the step of a result code refuses %s', async (_, line, code) => {
  ended(await svc(line), code);
});

it('R13: the step of a result code in a config file that says what cannot be is named with its place', async () => {
  await svc('profile set action.WRN_OPT_OUT exclude');
  const file = home.file('.config/svc/config.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"exclude"', '"drop"'));
  ended(await svc('au report r.csv'), 3, /line \d+, column \d+: WRN_OPT_OUT should be \\"replace\\" or/);
});
