import { describe, expect, it } from 'vitest';
import { GLOBAL_PARAMETERS } from '../../../src/cli/app/global-parameters.ts';
import { helpText } from '../../../src/cli/app/help.ts';
import { optionWords } from '../../../src/cli/app/parameter.ts';
import { parse } from '../../../src/cli/app/run.ts';
import { PROGRAM, TREE } from '../../../src/tree.ts';
import { allCommands } from '../../support/tree.ts';

const CANARY = 'key_prod_4111111111111111_CANARY';

async function run(...argv: string[]): Promise<Extract<Awaited<ReturnType<typeof parse>>, { kind: 'run' }>> {
  const invocation = await parse(argv, PROGRAM);
  if (invocation.kind !== 'run') throw new Error('help was shown instead');
  return invocation;
}

async function help(...argv: string[]): Promise<string> {
  const invocation = await parse(argv, PROGRAM);
  if (invocation.kind !== 'help') throw new Error('a command was run instead');
  return helpText(invocation, { stdout: { columns: 80 } });
}

describe('a command line', () => {
  it('a command line gives a command its typed input', async () => {
    const { words, input } = await run(
      'logs',
      'list',
      '--entity-type',
      'card',
      '--limit',
      '5',
      '--operation',
      'create',
      '--operation',
      'read',
    );
    expect(words).toBe('logs list');
    expect(input).toMatchObject({
      entityType: 'card',
      limit: 5,
      operation: ['create', 'read'],
      all: false,
      grep: undefined,
    });
  });

  it('a command line runs the default command of a group when none is named', async () => {
    expect((await run('logs', '--entity-type', 'card')).words).toBe('logs list');
    expect((await run('tenant')).words).toBe('tenant show');
  });

  it('a command line shows help on a command or a topic also behind global options', async () => {
    expect(await help('--sandbox', 'help')).toBe(await help('help'));
    expect(await help('--profile', 'x', 'help', 'logs', 'tail')).toBe(await help('help', 'logs', 'tail'));
    expect(await help('--sandbox', 'help', 'exit-codes')).toBe(await help('help', 'exit-codes'));
    await expect(help('--sandbox', 'help', 'nothing')).rejects.toMatchObject({ code: 'usage' });
  });

  it('a command line takes global options before and after the command', async () => {
    const before = await run('-o', 'json', '--sandbox', 'logs', 'entity-types');
    const after = await run('logs', 'entity-types', '-o', 'json', '--sandbox');
    expect(before.globals).toEqual(after.globals);
    expect(after.globals).toMatchObject({ output: 'json', sandbox: true, noInput: false });
    expect((await run('tenant', '--no-input')).globals.noInput).toBe(true);
  });

  it('a command line reads durations of global options in milliseconds', async () => {
    expect((await run('tenant', '--timeout', '1m30s', '--max-wait', '5s')).globals).toMatchObject({
      timeout: 90_000,
      maxWait: 5_000,
    });
  });

  it('a command line gives arguments by name', async () => {
    expect((await run('au', 'status', 'job-1')).input).toEqual({ of: 'job-1' });
    expect((await run('profile', 'set', 'output', '--unset')).input).toMatchObject({
      setting: 'output',
      value: undefined,
      unset: true,
    });
  });

  it('a command line may combine an option with the opposite of one that it conflicts with', async () => {
    const checkpoint = ['logs', 'tail', '--checkpoint', 'c.json'];
    expect((await run(...checkpoint, '--no-hide-own-reads')).input).toMatchObject({ noHideOwnReads: true });
    await expect(parse([...checkpoint, '--hide-own-reads'], PROGRAM)).rejects.toMatchObject({ code: 'usage' });
  });

  it('a parameter conflicts with parameters of the same command', async () => {
    for (const { words, command } of await allCommands())
      for (const { conflicts = [] } of Object.values(command.parameters))
        expect([words, Object.keys(command.parameters)]).toEqual([words, expect.arrayContaining([...conflicts])]);
  });

  it.each([
    [['lgos'], 'unknown command "lgos"'],
    [['logs', 'entty-types'], `unknown command "entty-types" for 'svc logs'`],
    [['logs', '--nope=key_prod'], `unknown option "--nope" for 'svc logs list'`],
    [['logs', '--page-size2', '3'], `unknown option "--page-size2" for 'svc logs list'`],
    [['au', 'status', 'job-1', 'more'], `unexpected argument "more" for 'svc au status'`],
    [['tenant', '-o', 'jsn'], '--output must be one of table, json, jsonl, csv, yaml, not "jsn"'],
    [['3ds', 'template', 'nope'], expect.stringMatching(/^<authentication-type> must be one of .*, not "nope"$/)],
    [['logs', '--all', '--limit', '3'], "option '-n, --limit <n>' cannot be used with option '--all'"],
    [['tenant', '--sandbox', '--profile', 'x'], expect.stringMatching(/--sandbox.*cannot be used with.*--profile/)],
    [['help', 'topics'], 'no help topic "topics"'],
    [[CANARY], 'unknown command (not shown: it may be a secret)'],
    [['help', CANARY], 'no help topic (not shown: it may be a secret)'],
  ])('%j names the word that is wrong, where it cannot be a secret', async (argv, message) => {
    await expect(parse(argv, PROGRAM)).rejects.toMatchObject({ code: 'usage', message });
  });
});

describe('help', () => {
  it('svc --help fits a screen of 24 lines, and names every group and usual command', async () => {
    const text = await help('--help');
    expect(text.trimEnd().split('\n').length).toBeLessThan(24);
    for (const { name } of TREE.filter(({ rare }) => rare !== true)) expect(text).toContain(name);
    expect(await help('-h')).toBe(text);
  });

  it.each([[], ['logs'], ['logs', 'list'], ['au', 'submit']])(
    'the --help of svc %s is shorter than svc help, which it names',
    async (...words) => {
      const short = await help(...words, '--help');
      const full = await help('help', ...words);
      expect(short.length).toBeLessThan(full.length);
      expect(short).toContain(words.length === 1 ? 'svc logs <command> --help' : ['svc help', ...words].join(' '));
      expect(short).not.toMatch(/^(Exit codes|Permissions|Topics)/m);
      expect(await help(...words, '-h')).toBe(short);
    },
  );

  it('--help leaves an option that a first month does not need to svc help', async () => {
    expect(await help('logs', 'list', '--help')).not.toContain('--page-size');
    expect(await help('help', 'logs', 'list')).toContain('--page-size');
  });
});

describe('the tree', () => {
  it('the tree leaves single steps out of the help of their group, and gives each its own', async () => {
    expect(await help('au', '--help')).not.toMatch(/svc au (create|upload)/);
    expect(await help('au', 'create', '--help')).toContain('svc au create');
  });

  it('the tree uses no option of the tool for anything else in a command', async () => {
    const taken = new Set(Object.values(GLOBAL_PARAMETERS).flatMap(optionWords));
    for (const { words, command } of await allCommands()) {
      const own = Object.values(command.parameters).flatMap(optionWords);
      expect(
        own.filter((word) => taken.has(word)),
        words,
      ).toEqual([]);
    }
  });

  it('the tree takes no key as an option or argument; --key of api takes one of two words, --…-key-command a command, --max-key-age a time', async () => {
    for (const { words, command } of await allCommands()) {
      const takes = Object.values(command.parameters).filter(
        ({ syntax, kind, choices }) => /key(?!-command|-age)/.test(syntax) && kind !== 'flag' && choices === undefined,
      );
      expect(takes, words).toEqual([]);
    }
  });
});
