import { describe, expect, it } from 'vitest';
import { isGroup } from '../../src/cli/app/command.ts';
import { GLOBAL_PARAMETERS } from '../../src/cli/app/global-parameters.ts';
import { KEY_OPTIONS } from '../../src/cli/app/habits.ts';
import { optionWords, type Parameter, type Parameters } from '../../src/cli/app/parameter.ts';
import { placeholder } from '../../src/cli/app/place.ts';
import { parse } from '../../src/cli/app/run.ts';
import { EVERY_HABIT } from '../../src/general/every-habit.ts';
import { PROGRAM, TREE } from '../../src/tree.ts';
import { allCommands } from '../support/tree.ts';

const commands = await allCommands();
const every: Parameter<unknown>[] = [
  ...Object.values(GLOBAL_PARAMETERS),
  ...commands.flatMap(({ command }) => Object.values(command.parameters)),
];

/** Returns the words of a habit's command that are not in the tree, and its options that the command does not have. */
async function unknownWords(line: string): Promise<string[]> {
  if (line === 'help') return [];
  const words = line.split(' ');
  const options = words.filter((word) => /^--\w/.test(word));
  let entries = TREE;
  let own: Parameters = {};
  let defaultCommand: string | undefined;
  for (const word of words) {
    if (entries.length === 0 || !/^\w/.test(word)) break;
    const entry = entries.find(({ name }) => name === word);
    if (entry === undefined) return [word];
    const node = await entry.load();
    defaultCommand = isGroup(node) ? node.defaultCommand : undefined;
    entries = isGroup(node) ? node.commands : [];
    if (!isGroup(node)) own = node.parameters;
  }
  const main = await entries.find(({ name }) => name === defaultCommand)?.load();
  if (main !== undefined && !isGroup(main)) own = main.parameters;
  const known = new Set(Object.values({ ...GLOBAL_PARAMETERS, ...own }).flatMap(optionWords));
  return options.filter((option) => !known.has(option));
}

async function mistake(...argv: string[]): Promise<unknown> {
  return parse(argv, PROGRAM).then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('the habits of other tools', () => {
  it.each(EVERY_HABIT.commands.map(([typed, command, why]) => ({ typed, command, why })))(
    'svc $typed is refused with the command to run instead: $command',
    async ({ typed, command, why }) => {
      const next = command === '' ? [...typed.split(' ').slice(0, -1), '--help'] : command.split(' ');
      expect(await mistake(...typed.split(' '))).toMatchObject({ code: 'usage', next, ...(why && { hint: why }) });
      expect(command === '' ? [] : await unknownWords(command)).toEqual([]);
      expect(command !== '' || why !== undefined).toBe(true);
    },
  );

  it.each(EVERY_HABIT.extraWords.map(([command, instead]) => ({ command, instead })))(
    'a word too many for svc $command gets a pointer to $instead',
    async ({ command, instead }) => {
      expect(commands.map(({ words }) => words)).toContain(command);
      expect(await unknownWords(instead)).toEqual([]);
    },
  );

  it('the options of other tools point to options that exist, and are listed once', () => {
    const argumentsOfAll = every.filter(({ kind }) => kind === 'argument').map(({ syntax }) => placeholder(syntax));
    const known = new Set([...every.flatMap(optionWords), ...argumentsOfAll]);
    for (const [typed, options, why] of EVERY_HABIT.options) {
      expect(options.length > 0 || why !== undefined, typed).toBe(true);
      expect(
        options.filter((option) => !known.has(option.split(' ')[0] ?? '')),
        typed,
      ).toEqual([]);
    }
    const typed = [...EVERY_HABIT.options.flatMap(([words]) => words.split(' ')), ...KEY_OPTIONS];
    expect(typed).toHaveLength(new Set(typed).size);
  });

  it.each([
    ['profile new', 'login --profile <name>'],
    ['tenant patch', 'tenant update'],
    ['profile edit', 'profile set <setting>'],
    ['logs export', 'logs archive'],
    ['logs rm', 'logs archive <dir> --keep <months>'],
    ['sandbox clear', 'sandbox reset'],
    ['events resend', 'events replay <journal>'],
    ['logs read', 'logs --operation read'],
  ])('svc %s, a word for one that svc has, is answered with svc %s', async (typed, command) => {
    expect(await mistake(...typed.split(' '))).toMatchObject({ code: 'usage', next: command.split(' ') });
  });

  it.each(['sandbox advance', 'events forward', 'tenant rename', 'au poll', '3ds wait', 'completion tcsh'])(
    'svc %s, a word that nothing is like, is answered with the commands of its group',
    async (typed) => {
      const [group = ''] = typed.split(' ');
      expect(await mistake(...typed.split(' '))).toMatchObject({ code: 'usage', next: [group, '--help'] });
    },
  );

  it('a word at the start that is like the verb of a group is not answered with a command that removes everything', async () => {
    expect(await mistake('clear')).toMatchObject({ next: ['--help'] });
  });

  it('the choices of other tools point to choices that exist', () => {
    for (const [option, words] of Object.entries(EVERY_HABIT.choices)) {
      const choices = every.filter((one) => optionWords(one).includes(option)).flatMap((one) => one.choices ?? []);
      const known = [...choices, ...every.flatMap(optionWords)];
      expect(known, option).toEqual(expect.arrayContaining(Object.keys(words)));
      const typed = new Set(Object.values(words).flatMap((list) => list.split(' ')));
      expect(choices.filter((choice) => typed.has(choice))).toEqual([]);
    }
  });
});
