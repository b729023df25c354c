import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ended, succeeded, svcIn } from '../../support/run-here.ts';
import { GLOBAL_PARAMETERS } from '../../../src/cli/app/global-parameters.ts';
import { candidatesFor } from '../../../src/general/completion/complete.ts';
import { complete } from '../../../src/general/completion/shells.ts';
import { TREE } from '../../../src/tree.ts';
import { Home } from '../../support/svc.ts';

const home = new Home();

const program = { tree: TREE, globals: GLOBAL_PARAMETERS, topics: [] };
const system = { env: {}, platform: 'linux', home: home.path, cwd: home.path } as const;

it('completion in bash returns only the part of the word that bash will replace', async () => {
  expect(await bash('svc logs --output=y', 'y')).toBe('words\nyaml\n');
  expect(await bash('svc logs --output=y', '--output=y')).toBe('words\n--output=yaml\n');
  expect(await bash('svc logs "--output=y', '--output=y')).toBe('words\n--output=yaml\n');
});

it('completion in bash adds no space after a field, so that another field can follow', async () => {
  expect(await bash('svc logs --fields oper', 'oper')).toBe('words nospace\noperation\n');
});

it('completion in bash proposes files after a redirection', async () => {
  expect(await bash('svc logs >l', 'l')).toBe('files\n');
});

describe('completion of values of the real commands', () => {
  it.each([
    ['sandbox start --fault', 'reset', ['reset']],
    ['sandbox start --fault', '503,retry', ['503,retry-after=2']],
    ['sandbox start --outcome', 'reason=card-expired,challenge=st', ['reason=card-expired,challenge=static']],
    ['sandbox outcome', 'status=rejected; reason=stolen', ['status=rejected; reason=stolen-card']],
    ['sandbox start --fault', '503@GET /logs', ['503@GET /logs', '503@GET /logs/entity-types']],
    ['sandbox outcome', 'challenge=static@c', ['challenge=static@card ']],
    ['3ds run --outcome', 'status=failed,sta', []],
    ['3ds run --outcome', 'status=failed;status=fa', ['status=failed;status=failed']],
    ['3ds run --outcome', 'status=failed,reason=stolen', ['status=failed,reason=stolen-card']],
    ['sandbox exec --', 'sv', ['svc']],
    ['sandbox exec -- svc', 'tena', ['tenant']],
    ['sandbox exec --fault 503 -- svc logs --output', 'y', ['yaml']],
    ['explain', 'exit', ['exit codes']],
    ['explain', 'fields of an er', ['fields of an error']],
    ['3ds test --only', 'Rej', ['Rejected Challenge Authentication']],
  ])('svc %s and TAB after %s offer %j', async (line, current, offered) => {
    const { prefix, candidates } = await candidatesFor(program, line.split(' '), current, system);
    expect(candidates.map(([value]) => `${prefix}${value}`)).toEqual(offered);
  });

  it('svc sandbox exec -- and TAB offer files, such as a script', async () => {
    expect(await candidatesFor(program, ['sandbox', 'exec', '--'], './', system)).toMatchObject({ kind: 'files' });
  });

  it('svc au prepare --map token= and TAB offer the columns of the export, and no cell of a file without a header', async () => {
    const other = new Home();
    const after = async (text: string): Promise<string[]> => {
      writeFileSync(other.file('export.csv'), text);
      const words = ['au', 'prepare', other.file('export.csv'), '--map'];
      return (await candidatesFor(program, words, 'token=', system)).candidates.map(([value]) => value);
    };
    expect(await after('Cards of May\ncard id;valid to;4111111111111111\n1;2;3\n')).toEqual([]);
    expect(await after('card id;valid to;4111111111111111\n')).toEqual(['token=card id', 'token=valid to']);
    expect(await after('00000000-0000-4000-8000-000000000001,31,05,Ann\n')).toEqual([]);
    expect(await after('+-------+\n| token |\n+-------+\n')).toEqual([]);
    expect(await after('token,a;b\n')).toEqual([]);
  });

  it.each([
    ['whoami --profiles', '', ['prod', 'qa', 'sandbox']],
    ['whoami --profiles', 'prod,', ['prod,qa', 'prod,sandbox']],
    ['profile use', '', ['prod', 'qa', 'sandbox']],
    ['profile delete', '', ['prod', 'qa']],
  ])('svc %s and TAB after %s offer the profiles %j', async (line, current, offered) => {
    const config = new Home().file('config');
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, 'config.json'), JSON.stringify({ version: 1, profiles: { prod: {}, qa: {} } }));
    const host = { ...system, env: { SVC_CONFIG_DIR: config } };
    const { prefix, candidates } = await candidatesFor(program, line.split(' '), current, host);
    expect(candidates.map(([value]) => `${prefix}${value}`)).toEqual(offered);
  });

  it('svc au submit --cycle and TAB offer this month and the cycles of the ledgers', async () => {
    const other = new Home();
    const state = other.file('state');
    for (const name of ['2020-01', '2020-02', 'file-0123456789abcdef'])
      mkdirSync(join(state, 'ledger', 'tenant-1', 'cycles', name), { recursive: true });
    const { candidates } = await candidatesFor(program, ['au', 'submit', 't.csv', '--cycle'], '', {
      ...system,
      env: { SVC_STATE_DIR: state },
    });
    expect(candidates.map(([value]) => value)).toEqual([expect.stringMatching(/^\d{4}-\d\d$/), '2020-02', '2020-01']);
  });
});

describe('completion in the other shells', () => {
  it('completion in zsh starts with the length of the prefix to keep, and separates descriptions with a colon', async () => {
    expect(await complete(program, ['zsh', 'logs', '--output=y'], system)).toBe('words 9\nyaml\n');
    expect(await complete(program, ['zsh', 'help', 'ten'], system)).toBe(
      'words 0\ntenant:show and change the tenant of your keys\n',
    );
  });

  it('completion in fish returns whole words', async () => {
    expect(await complete(program, ['fish', 'logs', '--output=y'], system)).toBe('words\n--output=yaml\n');
    expect(await complete(program, ['fish', 'ten'], system)).toBe(
      'words\ntenant\tshow and change the tenant of your keys\n',
    );
  });

  it.each([
    [['y', '--output=y', 'logs'], 'yaml\tyaml\t\n'],
    [['--output=y', '--output=y', 'logs'], '--output=yaml\tyaml\t\n'],
    [['oper', 'message,oper', 'logs', '--fields'], 'operation\toperation\t\n'],
    [['message,oper', 'message,oper', 'logs', '--fields'], "'message,operation'\toperation\t\n"],
  ])('completion in PowerShell returns the text that replaces the word at the cursor: %j', async (typed, expected) => {
    const text = Buffer.from(typed.join('\0')).toString('base64');
    expect(await complete(program, ['powershell', text], system)).toBe(expected);
  });

  it('completion in an unknown shell returns nothing', async () => {
    expect(await complete(program, ['tcsh', 'x'], system)).toBeUndefined();
    expect(await complete(program, [], system)).toBeUndefined();
  });
});

it('completion of every top-level command and group proposes --help', async () => {
  for (const { name } of TREE) {
    const candidates = await complete(program, ['fish', name, '--'], system);
    expect(candidates).toContain('--help');
  }
});

it.each([
  ['logs --operation d', ['delete\tthe entity was deleted']],
  ['logs --exclude-operation r', ['read\tthe entity was read']],
  ['logs tail --actor-type us', ['user\ta person who is signed in to the service']],
  ['logs --since to', ['today\tsince 00:00 UTC']],
  ['tenant update --set dedup', [expect.stringMatching(/^deduplicate_tokens=\twhether a token/)]],
  ['tenant update --set deduplicate_tokens=', ['deduplicate_tokens=true', 'deduplicate_tokens=false']],
  [
    'tenant update --set token_deduplication_behavior=u',
    [expect.stringMatching(/^token_deduplication_behavior=update_existing\t/)],
  ],
  ['3ds authenticate x --set purchase_info.tr', [expect.stringMatching(/^purchase_info.transaction_type=\t/)]],
  ['3ds validate x --set purchase_info.transaction_type=q', ['purchase_info.transaction_type=quasi-cash']],
  ['3ds authenticate x --set request_decoupled_challenge=f', ['request_decoupled_challenge=false']],
  ['au report --action WRN_OPT', ['WRN_OPT_OUT=\tthe cardholder does not want updates']],
  ['au next --action WRN_OPT_OUT=e', ['WRN_OPT_OUT=exclude\tleave the token out of future requests']],
  ['events trigger account-updater.job.f', [expect.stringMatching(/^account-updater.job.failed\ta job has failed/)]],
  ['events trigger account-updater.job.c', [expect.any(String), expect.any(String)]],
  ['api P', ['POST\tcreate or do something', 'PUT\treplace', 'PATCH\tchange a part']],
  ['api POST /', ['/3ds/sessions\t', '/3ds/sessions/\t', '/account-updater/jobs\t'].map(beginning)],
  ['api get /t', ['/tenants/self\t', '/tenants/self/reports/usage\t'].map(beginning)],
  ['api GET /logs --query entity_', ['entity_type=\t', 'entity_id=\t'].map(beginning)],
  ['3ds run --card Authentication\\ F', ['Authentication Failed\tthe cardholder is not authenticated']],
  ['3ds run --expect att', [expect.stringMatching(/^attempted\tauthentication was attempted/)]],
  ['3ds run --expect-reason stolen', ['stolen-card\tthe card is reported as stolen']],
  ['3ds template top', ['top-up\ta stored balance is filled up, of a prepaid phone for example']],
  ['profile set output y', ['yaml']],
  ['profile set action.UPD_P', [beginning('action.UPD_PAN\t')]],
  ['profile set action.UPD_PAN k', ['keep\tkeep the token in future requests']],
  ['events trigger x --set data.job.s', ['data.job.status=\tthe status of the job']],
  ['events trigger x --set data.job.status=pe', [beginning('data.job.status=pending\t')]],
  ['sandbox start --without a', ['account-updater\tAccount Updater jobs']],
  ['au prepare export.csv --map tok', ['token=\tthen the name of a column']],
  ['explain UPD_P', ['UPD_PAN\tresult code']],
])('completion of enumerated values offers them with their meanings: svc %s', async (line, offered) => {
  const words = line.split(/(?<!\\) /);
  const shown = await complete(program, ['fish', ...words], system);
  expect(shown?.trimEnd().split('\n').slice(1)).toEqual(offered);
});

it('completion of enumerated values adds no space after the name of an assignment, and one after its value', async () => {
  expect(await bash('svc au next --action WRN_OPT', 'WRN_OPT')).toBe('words nospace\nWRN_OPT_OUT=\n');
  expect(await bash('svc au next --action WRN_OPT_OUT=k', 'k')).toBe('words\nkeep\n');
});

it('completion of enumerated values quotes the blanks of a test card', async () => {
  expect(await bash('svc 3ds run --card Authentication\\ F', 'Authentication\\ F')).toBe(
    'words\nAuthentication\\ Failed\n',
  );
});

it('svc __complete works without any settings, and writes no files', async () => {
  ended(await svcIn(home.path, ['__complete', 'fish', 'logs', '--entity-type', 'ca']), 0, {
    stdout: 'words\ncard\n',
    stderr: '',
  });
  expect(readdirSync(home.path)).toEqual([]);
});

it('svc __complete prints nothing for an unknown shell, and exits with 2', async () => {
  expect(await svcIn(home.path, ['__complete', 'tcsh'])).toMatchObject({ code: 2, stdout: '', stderr: '' });
});

it('svc __complete does not obey options such as --version in the line to be completed', async () => {
  ended(await svcIn(home.path, ['__complete', 'fish', '--version', '--help', '-o', '']), 0, {
    stdout: expect.stringContaining('jsonl'),
  });
});

it('svc __complete proposes the entity types that the service listed last', async () => {
  const before = await svcIn(home.path, ['__complete', 'fish', 'logs', '--entity-type', 'web']);
  expect(before.stdout).toBe('words\n');
  succeeded(await svcIn(home.path, ['--sandbox', 'logs', 'entity-types']));
  const after = await svcIn(home.path, ['__complete', 'fish', 'logs', '--entity-type', 'web']);
  expect(after.stdout).toMatch(/^words\nwebhook(\t.*)?\n$/);
});

function beginning(text: string): unknown {
  return expect.stringMatching(new RegExp(`^${text}`));
}

/** Completes `tail`, the word at the cursor. */
function bash(line: string, tail: string): Promise<string | undefined> {
  return complete(program, ['bash', tail, line], system);
}
