import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import {
  type Command,
  type CommandSpec,
  defineCommand,
  type Entry,
  entry,
  type GroupSpec,
} from '../../../src/cli/app/command.ts';
import { createRedactor } from '../../../src/base/security/redact.ts';
import { GLOBAL_PARAMETERS } from '../../../src/cli/app/global-parameters.ts';
import { argument, choice, flag, type Parameters, rest, value, repeated } from '../../../src/cli/app/parameter.ts';
import { text } from '../../../src/cli/app/value-parsers.ts';
import { type CacheWriter, rememberApplications, rememberEntityTypes } from '../../../src/cli/config/cache.ts';
import { rememberTenant } from '../../../src/cli/config/known-keys.ts';
import type { PathsHost } from '../../../src/cli/config/paths.ts';
import { candidatesFor } from '../../../src/general/completion/complete.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const list = command('list', {
  entityType: { ...value('--entity-type <type>', 'only this type', text), suggest: 'entity type' },
  actor: { ...repeated('--actor <id>', 'only this actor *', text), suggest: 'actor' },
  all: flag('--all', 'every page'),
});
const submit = command('submit', {
  file: argument('<file|->', 'a request file', text),
  out: value('--out <file>', 'where the results go', text),
  body: value('--body <json|->', 'from a file', text),
  directory: value('--directory <dir>', 'a directory', text),
  failOn: choice('--fail-on <class>', 'exit code 10', ['err', 'wrn']),
});
const explain = command('explain', {
  word: { ...argument('<word>', 'a word', text), suggest: () => [['a:b', 'with a colon']] },
});

const resume = command('resume', { of: argument('<cycle|job>', 'a cycle or a job', text) });

const check = command('check', { files: rest('<file...>', 'request files') });

let loaded: string[] = [];
const tree: Entry[] = [
  counted('logs', 'audit logs', { commands: [list, submit], defaultCommand: 'list' }),
  counted('au', 'account updater', { commands: [submit, check] }),
  explain,
  resume,
];
const program = { tree, globals: GLOBAL_PARAMETERS, topics: [['exit-codes', 'what each means']] } as const;

let home = '';

beforeEach(() => {
  loaded = [];
  home = temporaryDirectory();
});

/** What is typed, the last word as far as it is typed, and the words that are offered. */
it.each<readonly [why: string, typed: readonly string[], offered: unknown]>([
  ['the commands of the root', [''], ['logs', 'au', 'explain', 'resume', 'help']],
  ['commands that begin so', ['l'], ['logs']],
  ['the commands of a group', ['logs', ''], ['list', 'submit']],
  ['commands behind global options', ['--profile', 'logs', '-o', 'json', '--sandbox', 'a'], ['au']],
  ['commands behind an option with its value', ['--output=json', 'logs', 'su'], ['submit']],
  ['commands and topics after help', ['help', 'e'], ['explain', 'exit-codes']],
  ['the commands of a group after help', ['help', 'logs', ''], ['list', 'submit']],
  ['no options after help', ['help', '--'], []],
  ['nothing after a word that is no command', ['nonsense', 'l'], []],
  ['global options anywhere', ['--sa'], ['--sandbox']],
  ['no option again', ['logs', '--all', '--a'], ['--actor']],
  ['an option again that may be repeated', ['logs', '--actor', 'x', '--act'], ['--actor']],
  ['no option again in its long spelling', ['-o', 'json', '--out'], []],
  ['no option again that has its value', ['--output=json', '--out'], []],
  ['no subcommand after an option of the default command', ['logs', '--all', 's'], []],
  ['no option after a lone --', ['au', 'submit', '--', '--'], []],
  ['a short option that is typed whole', ['-o'], ['-o']],
  ['choices of an option', ['au', 'submit', '--fail-on', ''], ['err', 'wrn']],
  ['nothing for a value that nobody can know', ['--base-url', ''], []],
])('completion offers %s: %j', async (_, typed, offered) => {
  expect(await words(...typed)).toEqual(offered);
});

it('completion offers the options of a command where nothing else can come, and none of another', async () => {
  for (const typed of [
    ['logs', '--'],
    ['logs', 'list', ''],
  ])
    expect(await words(...typed)).toEqual(expect.arrayContaining(['--entity-type', '--all', '--output']));
  expect(await words('logs', '--')).not.toContain('--fail-on');
  expect(await words('nonsense', '')).not.toContain('logs');
});

it('completion loads the group that was typed, its default command, and no other', async () => {
  await words('l');
  expect(loaded).toEqual([]);
  await words('logs', '');
  expect(loaded).toEqual(['logs', 'list']);
});

it.each([
  ['files', ['au', 'submit', '--', '']],
  ['files', ['au', 'submit', '']],
  ['files', ['au', 'submit', '--out', 'x']],
  ['files', ['au', 'check', 'a.csv', 'b.csv', '']],
  ['files', ['au', 'submit', '--body', '']],
  ['directories', ['au', 'submit', '--directory=x']],
  ['words', ['au', 'submit', 'tokens.csv', '']],
])('completion leaves %s to the shell: %j', async (kind, typed) => {
  expect((await ask(...typed)).kind).toBe(kind);
});

it('completion of values gives a summary with each, and the prefix that stays', async () => {
  expect((await ask('au')).candidates).toEqual([['au', 'account updater']]);
  expect(await ask('--output=js')).toMatchObject({
    prefix: '--output=',
    candidates: [
      ['json', ''],
      ['jsonl', ''],
    ],
  });
  expect(await ask('au', 'submit', '--directory=x')).toMatchObject({ prefix: '--directory=' });
});

it('completion of values offers fields of the command, each once, and lets the list go on', async () => {
  expect(await ask('logs', '--fields', 'id,')).toMatchObject({
    prefix: 'id,',
    open: true,
    candidates: [
      ['settings.a', ''],
      ['settings', ''],
    ],
  });
  expect(await ask('logs', '--fields=id,settings.')).toMatchObject({ prefix: '--fields=id,' });
  expect(await words('--fields', '')).toEqual([]);
});

it('completion of values offers the profiles that are stored, and the sandbox', async () => {
  mkdirSync(join(home, '.config/svc'), { recursive: true });
  const profiles = {
    prod: { base_url: 'https://api.example.com', keys: { private: { value: 'key_SECRET' } } },
    'bad\u001bname': {},
  };
  writeFileSync(join(home, '.config/svc/config.json'), JSON.stringify({ version: 1, profiles }));
  expect((await ask('--profile', '')).candidates).toEqual([
    ['prod', 'https://api.example.com'],
    ['sandbox', 'the embedded sandbox'],
  ]);
  expect(JSON.stringify(await ask('--profile', ''))).not.toContain('SECRET');
});

it.each(['', '{', '[]', '{"profiles":[1]}', '{"profiles":null}', '\0'])(
  'completion of values offers the sandbox alone where the config file holds %j',
  async (content) => {
    mkdirSync(join(home, '.config/svc'), { recursive: true });
    writeFileSync(join(home, '.config/svc/config.json'), content);
    expect((await words('--profile', '')).at(-1)).toBe('sandbox');
  },
);

it('completion of values offers the known entity types, and those that a service told', async () => {
  expect(await words('logs', '--entity-type', 'c')).toEqual(['card']);
  rememberEntityTypes(cache(), 'https://a.example.com', [['card', 'Card']]);
  rememberEntityTypes(cache(), 'https://b.example.com', [
    ['custom', 'Custom\u001b[31m'],
    ['c\u001b]0;x\u0007', ''],
    ['c\nd', ''],
  ]);
  expect((await ask('logs', '--entity-type', 'c')).candidates).toEqual([
    ['card', 'Card'],
    ['custom', String.raw`Custom\x1b[31m`],
  ]);
});

it('completion of values offers the names of applications, and the ids of those that share a name', async () => {
  expect(await words('logs', '--actor', '')).toEqual([]);
  const owner = { service: 'https://a.example.com', tenantId: 't-1' };
  const names = [
    ['id-1', 'Nightly refresh'],
    ['id-2', 'Twin'],
    ['id-3', 'Twin'],
  ] as const;
  rememberApplications(cache(), owner, { shown: new Map(names), whole: new Map(), hasMore: false }, 1);
  expect((await ask('logs', '--actor', '')).candidates).toEqual([
    ['Nightly refresh', 'application id-1'],
    ['id-2', 'Twin'],
    ['id-3', 'Twin'],
  ]);
});

it('R06: the caches that completion reads contain nothing that the output would hide', () => {
  const key = 'key_canary7Qz4Xw91Lm';
  const signed = 'http://store.example/f?X-Amz-Signature=deadbeefdeadbeef';
  const redactor = createRedactor();
  redactor.addSecret(key);
  const owner = { service: 'https://a.example.com', tenantId: 't-1' };
  const writer = { system: system(), out: redactor };
  const secrets = [key, signed, '4242424242424242'];
  const pairs = secrets.flatMap((one, at) => [[one, 'type'] as const, [`id-${at}`, one] as const]);
  rememberEntityTypes(writer, owner.service, pairs);
  rememberApplications(writer, owner, { shown: new Map(pairs), whole: new Map(pairs), hasMore: false }, 1);
  rememberTenant(
    writer,
    { profile: 'p', baseUrl: 'b', keys: undefined },
    { id: '1', name: `Acme ${key}`, type: signed },
  );
  const files = ['applications.json', 'entity-types.json', 'known-keys.json'];
  const written = files.map((file) => readFileSync(join(home, '.cache/svc', file), 'utf8')).join('');
  for (const secret of [key, 'deadbeef', '4242424242424242']) expect(written).not.toContain(secret);
  expect(written).toContain('["id-0","[hidden]"]');
  expect(written).toContain('"name":"Acme [hidden]"');
});

it('completion of values takes a damaged cache for none', async () => {
  for (const content of ['', '{"services":{"x":[["card"],7,["a","b"]]}}', '{"services":7}', 'null']) {
    mkdirSync(join(home, '.cache/svc'), { recursive: true });
    writeFileSync(join(home, '.cache/svc/entity-types.json'), content);
    expect(await words('logs', '--entity-type', 'ta')).toEqual([]);
    expect(await words('logs', '--entity-type', 'car')).toEqual(['card']);
  }
});

it('completion of values offers the cycles and jobs that this machine has seen', async () => {
  for (const [cycle, job, at] of [
    ['2026-01', 'job-01', 1],
    ['file-0123456789abcdef', 'job-02', 2],
  ] as const) {
    const place = join(home, '.local/state/svc/ledger/ours/cycles', cycle);
    mkdirSync(place, { recursive: true });
    const claim = { kind: 'claim', job, at: '2026-01-01T00:00:00Z', file: { name: 'tokens.csv' } };
    writeFileSync(join(place, '00000001.json'), JSON.stringify(claim));
    writeFileSync(join(place, '00000002.json'), '{');
    utimesSync(place, at, at);
  }
  const { candidates } = await ask('resume', '');
  expect(candidates.map(([word]) => word).slice(1)).toEqual(['2026-01', 'job-02', 'job-01']);
  expect(new Map(candidates).get('job-01')).toContain('tokens.csv');
  expect(await words('resume', 'job-02')).toEqual(['job-02']);
});

it('completion of values writes nothing', async () => {
  await words('--profile', '');
  await words('logs', '--entity-type', '');
  expect(readdirSync(home)).toEqual([]);
});

function cache(): CacheWriter {
  return { system: system(), out: createRedactor() };
}

function system(): PathsHost {
  return { env: {}, platform: 'linux', home, cwd: home };
}

function ask(...typed: string[]): ReturnType<typeof candidatesFor> {
  return candidatesFor(program, typed.slice(0, -1), typed.at(-1) ?? '', system());
}

async function words(...typed: string[]): Promise<string[]> {
  return (await ask(...typed)).candidates.map(([word]) => word);
}

function command(name: string, parameters: Parameters): Entry<Command> {
  const facts = { examples: [], fields: ['id', 'settings.a', 'settings.*', '*'] };
  return counted(name, `${name} things`, defineCommand({ ...facts, parameters, run: () => Promise.resolve() }));
}

function counted<Spec extends CommandSpec | GroupSpec>(name: string, summary: string, spec: Spec) {
  return entry(name, summary, () => {
    loaded.push(name);
    return Promise.resolve({ [name]: spec });
  });
}
