import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exitCodesOf } from '../../src/app/command.ts';
import { helpText } from '../../src/app/help.ts';
import { GLOBAL_PARAMETERS, optionWords } from '../../src/app/parameter.ts';
import { parse } from '../../src/app/run.ts';
import { TOPICS } from '../../src/app/topics.ts';
import { EXIT_CODE_MEANINGS } from '../../src/app/topics/exit-codes.ts';
import { PROGRAM, TREE } from '../../src/commands/tree.ts';
import { EXIT_CODES } from '../../src/errors.ts';
import { allCommands, typedWords } from '../support/tree.ts';

const HOST = { env: {}, platform: 'linux', home: '/home/you', cwd: '/' } as const;
const commands = await allCommands();
const lines = [
  [],
  ...TREE.map(({ name }) => [name]),
  ...commands.map(({ words }) => words.split(' ')),
  ...Object.keys(TOPICS).map((topic) => [topic]),
];

async function help(argv: readonly string[], columns = 80): Promise<string> {
  const invocation = await parse(['help', ...argv], PROGRAM);
  if (invocation.kind !== 'help') throw new Error('a command was run instead');
  return helpText(invocation, HOST, columns);
}

describe('help', () => {
  it.each(lines.map((argv) => argv.join(' ')))(
    'on "%s" begins with examples and fits 80 columns',
    async (typed) => {
      const text = await help(typed.split(' ').filter(Boolean));
      expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
      const titles = text
        .split('\n\n')
        .slice(1)
        .map((part) => part.split('\n')[0]);
      expect(titles[0]).toBe('Examples');
      expect(text.endsWith('\n')).toBe(true);
      expect(text).not.toMatch(/ \n|\n\n\n/);
    },
  );

  it('fits 40 columns, but for words that are longer', async () => {
    for (const argv of lines) {
      const wide = (await help(argv, 40)).split('\n').filter((line) => line.length > 40);
      const cut = wide.filter(
        (line) => line.trim().replace(/ \\$/, '').includes(' ') && !/['"]|\w+: |^ +svc|</.test(line),
      );
      expect(cut, argv.join(' ')).toEqual([]);
    }
  });

  it('goes from examples to options, permissions and the exit codes of its own', async () => {
    const text = await help(['au', 'wait']);
    const places = ['Examples', 'Usage', 'Arguments', 'Options', 'Permissions', 'Exit codes'].map((title) =>
      text.indexOf(`\n${title}`),
    );
    expect(places.every((place, at) => place > (places[at - 1] ?? 0))).toBe(true);
    expect(text).toMatch(/^ {2}11 +still pending when the time was up/m);
  });

  it('keeps a command line whole for the shell, whatever the width', async () => {
    for (const { words, command } of commands) {
      const narrow = (await help(words.split(' '), 40)).replaceAll(/ \\\n +/g, ' ');
      for (const [line] of command.examples) expect(narrow, words).toContain(line);
    }
  });

  it('has for every command a summary, examples that parse, and what it prints', async () => {
    const nothing = commands.filter(({ command }) => command.fields === undefined).map(({ words }) => words);
    expect(
      nothing,
      'these commands have no `fields`: give those of the view that they print, or add them to PRINTS_NO_DATA',
    ).toEqual(expect.arrayContaining(nothing.filter((words) => PRINTS_NO_DATA.has(words))));
    expect(nothing.filter((words) => !PRINTS_NO_DATA.has(words))).toEqual([]);
    for (const { words, command } of commands) {
      expect(command.summary, words).toMatch(/[^.\s]$/);
      expect(command.examples.length, `svc ${words} has no example`).toBeGreaterThan(0);
      for (const [line] of command.examples)
        expect((await parse(typedWords(line), PROGRAM)).kind, `example of svc ${words}: ${line}`).toBe('run');
    }
  });

  it('knows the meaning of every exit code', () => {
    const known = new Set(EXIT_CODE_MEANINGS.map(([code]) => code));
    for (const { words, command } of commands) {
      // 126 and 127 are those of the command that it runs.
      const strange = exitCodesOf(command).filter((code) => !known.has(code) && ![126, 127].includes(code));
      expect(strange, `exit codes of svc ${words}: add their meaning to src/program/exit-codes.ts`).toEqual(
        [],
      );
    }
  });
});

/** Commands whose output is no data: `--fields` and `--jq` are of no use there. */
const PRINTS_NO_DATA = new Set([
  ...['bash', 'zsh', 'fish', 'powershell'].map((shell) => `completion ${shell}`),
  'login',
  'logout',
  'profile delete',
  'profile set',
  'profile use',
  'sandbox exec',
  'sandbox reset',
  'tenant delete',
]);

describe('help topics', () => {
  it('R55 explain every exit code that a failure can have, in the numbers that README gives', () => {
    const explained = new Set(EXIT_CODE_MEANINGS.map(([code]) => code));
    expect(Object.values(EXIT_CODES).filter((code) => !explained.has(code))).toEqual([]);
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    for (const code of explained) expect(readme).toMatch(new RegExp(`\\| (\\d+, )*${code}(, \\d+)* \\|`));
  });

  it('are named as no command is', () => {
    const names = new Set(TREE.filter(({ name }) => name in TOPICS).map(({ name }) => name));
    // Help on the group is under `svc sandbox --help`, on events under `svc events --help`.
    expect([...names]).toEqual(['events', 'sandbox']);
  });

  it('name options and commands that exist', async () => {
    const known = new Set([
      ...Object.values(GLOBAL_PARAMETERS).flatMap(optionWords),
      ...commands.flatMap(({ command }) => Object.values(command.parameters).flatMap(optionWords)),
    ]);
    const commandNames = new Set(commands.map(({ words }) => words));
    const groups = new Set(TREE.map(({ name }) => name));
    for (const topic of Object.keys(TOPICS)) {
      const text = await help([topic]);
      const options = text.match(/(?<![\w-])--?[a-z0-9][a-z0-9-]*(?=[\s,.;:)=|'])/g) ?? [];
      expect(
        options.filter((option) => !known.has(option) && option.startsWith('--')),
        topic,
      ).toEqual([]);
      for (const [, line = ''] of text.replaceAll(/\s+/g, ' ').matchAll(/'svc ([a-z0-9 -]+)/g)) {
        const [first = '', second = ''] = line.split(' ');
        const isKnown = first === 'help' || commandNames.has(`${first} ${second}`) || commandNames.has(first);
        expect(isKnown || groups.has(first), `${topic}: svc ${line}`).toBe(true);
      }
    }
  });

  it('tell every variable that the source reads', async () => {
    const text = await help(['environment']);
    for (const name of [
      'SVC_PROFILE',
      'SVC_PLAIN',
      'SVC_PAGER',
      'SVC_STATE_DIR',
      'SVC_API_KEY',
      'NO_COLOR',
      'CI',
    ])
      expect(text).toContain(name);
  });

  it('take their numbers from where they are made true', async () => {
    const text = (await help(['limits'])).replaceAll(/\s+/g, ' ');
    for (const fact of ['20, at most 100', '200 characters', '30.0 MB or 300,000 rows', '1h from', '1m 30s'])
      expect(text).toContain(fact);
    expect(await help(['files'])).toContain('/home/you/.config/svc');
  });
});

describe('a mistyped word', () => {
  it.each([
    [['help', 'exit-code'], "Did you mean 'svc help exit-codes'?"],
    [['help', 'lgos'], "Did you mean 'svc help logs'?"],
    [['help', 'nothing-like-it'], "'svc help' lists the commands and topics."],
    [['lgos'], "Did you mean 'logs'?"],
    [['logs', 'tial'], "Did you mean 'tail'?"],
    [['logs', '--limt', '3'], "Did you mean '--limit'?"],
    [['logs', '--outptu', 'json'], "Did you mean '--output'?"],
    [['logs', '-o', 'jsno'], 'Did you mean json?'],
    [['au', 'submit', 'x', '--fail-on', 'er'], 'Did you mean err?'],
    [['3ds', 'template', 'payment-transactoin'], 'Did you mean payment-transaction?'],
  ])('%j is answered with the one that was meant', async (argv, hint) => {
    await expect(parse(argv, PROGRAM)).rejects.toMatchObject({
      code: 'usage',
      hint: expect.stringContaining(hint),
    });
  });
});
