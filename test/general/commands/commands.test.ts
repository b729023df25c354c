import { afterAll, describe, expect, it } from 'vitest';
import type { CommandRow } from '../../../src/general/commands/commands.ts';
import { TREE } from '../../../src/tree.ts';
import { Home } from '../../support/svc.ts';

const home = new Home();
afterAll(() => home.remove());

async function rows(): Promise<CommandRow[]> {
  const { code, stdout } = await home.svc(['commands', '-o', 'json']);
  expect(code).toBe(0);
  return JSON.parse(stdout) as CommandRow[];
}

describe('svc commands', () => {
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
    const { stdout } = await home.svc(['commands', '-o', 'table']);
    expect(stdout).toMatch(/svc logs entity-types +list the values of --entity-type/);
  });
});
