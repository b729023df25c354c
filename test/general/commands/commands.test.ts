import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import type { CommandRow } from '../../../src/general/commands/commands.ts';
import { TREE } from '../../../src/tree.ts';
import { ended, succeeded, svcHere } from '../../support/run-here.ts';

async function rows(): Promise<CommandRow[]> {
  const { stdout } = succeeded(await svcHere(['commands', '-o', 'json']));
  return JSON.parse(stdout) as CommandRow[];
}

it('svc commands tells every command, and the global options in a row of their own', async () => {
  const found = await rows();
  expect(found[0]?.command).toBe('svc');
  expect(found[0]?.options.find(({ names }) => names.includes('--output'))).toEqual({
    syntax: '-o, --output <format>',
    names: ['-o', '--output'],
    value: 'format',
    required: false,
    repeatable: false,
    description: expect.any(String),
    choices: ['table', 'json', 'jsonl', 'csv', 'yaml'],
    default: null,
    environment: ['SVC_OUTPUT'],
  });
  const words = new Set(found.map(({ command }) => command.split(' ')[1]));
  expect(TREE.filter(({ name }) => !words.has(name))).toEqual([]);
});

it('svc commands tells what a command needs, takes and ends with', async () => {
  const found = (await rows()).find(({ command }) => command === 'svc au submit');
  expect(found).toMatchObject({
    short_form: null,
    permissions: expect.arrayContaining(['account-updater:job:create']),
    arguments: [{ syntax: '<file|->', required: true }],
    options: expect.arrayContaining([expect.objectContaining({ names: ['--fail-on'], choices: [] })]),
  });
  expect(found?.options.map(({ syntax }) => syntax)).not.toContain('<file|->');
  const authenticate = (await rows()).find(({ command }) => command === 'svc 3ds authenticate');
  expect(authenticate?.options).toContainEqual(
    expect.objectContaining({ names: ['--fail-on'], choices: ['err', 'wrn'] }),
  );
  expect(found?.exit_codes).toEqual(expect.arrayContaining([0, 2, 10, 13]));
  expect(found?.examples[0]).toEqual({ line: expect.stringContaining('svc au submit'), does: expect.any(String) });
});

it('svc commands tells the shorter form of a default command', async () => {
  const found = (await rows()).find(({ command }) => command === 'svc logs list');
  expect(found).toMatchObject({ short_form: 'svc logs', fields: expect.arrayContaining(['created_at']) });
});

it('svc commands shows the words and what they do on a terminal', async () => {
  const { stdout } = await svcHere(['commands', '-o', 'table']);
  expect(stdout).toMatch(/svc logs entity-types +list the values of --entity-type/);
});

it.each([
  ['au submit', ['svc au submit']],
  ['svc au submit', ['svc au submit']],
  ['au pr', ['svc au prepare', 'svc au prune']],
  ['lo', expect.arrayContaining(['svc logs list', 'svc login', 'svc logout'])],
])('svc commands %s prints the commands that begin so, and no other', async (words, expected) => {
  const { stdout } = succeeded(await svcHere(['commands', ...words.split(' '), '-o', 'json']));
  const found = (JSON.parse(stdout) as CommandRow[]).map(({ command }) => command);
  expect(found).toEqual(expected);
  expect(found.filter((command) => !command.startsWith(`svc ${words.replace(/^svc /, '')}`))).toEqual([]);
});

it('svc commands refuses words that begin no command, with the nearest', async () => {
  const { stderr } = ended(await svcHere(['commands', 'profle', '-o', 'json']), 2);
  expect(JSON.parse(stderr)).toMatchObject({ hint: "Did you mean 'profile'?", next: 'svc commands profile' });
});

it('svc commands --schema prints JSON Schemas of the options and of a row', async () => {
  const { stdout } = await svcHere(['commands', '3ds', 'template', '--schema', '-o', 'json']);
  const [found] = JSON.parse(stdout) as { command: string; options: object; row: object }[];
  expect(found).toMatchObject({
    command: 'svc 3ds template',
    options: {
      type: 'object',
      properties: {
        'authentication-type': { type: 'string', enum: expect.arrayContaining(['top-up']) },
        category: { enum: ['payment', 'non-payment'] },
      },
      required: ['authentication-type'],
      additionalProperties: false,
    },
    row: { properties: { purchase_info: { properties: { amount: { type: 'string' } } } } },
  });
  const accepts = new Ajv2020({ strict: false }).compile(found?.options ?? false);
  expect(accepts({ 'authentication-type': 'top-up' })).toBe(true);
  expect(accepts({ 'authentication-type': 'nonsense' })).toBe(false);
  expect(accepts({})).toBe(false);
});
