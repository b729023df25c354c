import { readdirSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { GLOBAL_PARAMETERS } from '../../../src/cli/app/global-parameters.ts';
import { complete } from '../../../src/general/completion/shells.ts';
import { TREE } from '../../../src/tree.ts';
import { Home } from '../../support/svc.ts';

const home = new Home();
afterAll(() => home.remove());

const program = { tree: TREE, globals: GLOBAL_PARAMETERS, topics: [] };
const system = { env: {}, platform: 'linux', home: home.path, cwd: home.path } as const;

describe('the answer to bash', () => {
  it('the answer to bash holds only what follows the place where bash cut the word', async () => {
    expect(await bash('svc logs --output=y', 'y')).toBe('words\nyaml\n');
    expect(await bash('svc logs --output=y', '--output=y')).toBe('words\n--output=yaml\n');
    expect(await bash('svc logs "--output=y', '--output=y')).toBe('words\n--output=yaml\n');
  });

  it('the answer to bash asks for no space after a field', async () => {
    expect(await bash('svc logs --fields oper', 'oper')).toBe('words nospace\noperation\n');
  });

  it('the answer to bash shows descriptions in a list, cut to the width of the terminal', async () => {
    const list = (await bash('svc ten', 'ten', '63')) ?? '';
    expect(list).toBe('words\ntenant\n');
    const lines = ((await bash('svc logs --', '--', '63', '60')) ?? '').split('\n').slice(1);
    expect(lines.find((line) => line.startsWith('--sandbox '))).toMatch(/ {2}\(use the embedded sandbox.*…\)$/);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(60);
    expect(await bash('svc logs --', '--', '9', '60')).not.toContain('(');
  });

  it('the answer to bash leaves the target of a redirection to bash', async () => {
    expect(await bash('svc logs >l', 'l')).toBe('files\n');
  });
});

describe('the answer to the other shells', () => {
  it('the answer to the other shells tells zsh how much of the word stays, and keeps colons from parting a word', async () => {
    expect(await complete(program, ['zsh', 'logs', '--output=y'], system)).toBe('words 9\nyaml\n');
    expect(await complete(program, ['zsh', 'help', 'ten'], system)).toBe(
      'words 0\ntenant:show and change the tenant of your keys\n',
    );
  });

  it('the answer to the other shells gives fish whole words', async () => {
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
  ])('the answer to the other shells gives PowerShell what replaces its word: %j', async (typed, told) => {
    const text = Buffer.from(typed.join('\0')).toString('base64');
    expect(await complete(program, ['powershell', text], system)).toBe(told);
  });

  it('the answer to the other shells is none to a shell that is not known', async () => {
    expect(await complete(program, ['tcsh', 'x'], system)).toBeUndefined();
    expect(await complete(program, [], system)).toBeUndefined();
  });
});

describe('every command of the tool', () => {
  it('every command of the tool can be completed up to its options', async () => {
    for (const { name } of TREE) {
      const told = await complete(program, ['fish', name, '--'], system);
      expect(told).toContain('--help');
    }
  });
});

describe('svc __complete', () => {
  it('svc __complete answers without settings, and leaves nothing behind', async () => {
    const { code, stdout, stderr } = await home.svc(['__complete', 'fish', 'logs', '--entity-type', 'ca']);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'words\ncard\n', stderr: '' });
    expect(readdirSync(home.path)).toEqual([]);
  });

  it('svc __complete says nothing when it does not understand', async () => {
    expect(await home.svc(['__complete', 'tcsh'])).toMatchObject({ code: 2, stdout: '', stderr: '' });
  });

  it('svc __complete takes the words after it for nothing but words', async () => {
    const { code, stdout } = await home.svc(['__complete', 'fish', '--version', '--help', '-o', '']);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('jsonl') });
  });

  it('svc __complete offers the entity types that the service told last', async () => {
    const before = await home.svc(['__complete', 'fish', 'logs', '--entity-type', 'web']);
    expect(before.stdout).toBe('words\n');
    expect((await home.svc(['--sandbox', 'logs', 'entity-types'])).code).toBe(0);
    const after = await home.svc(['__complete', 'fish', 'logs', '--entity-type', 'web']);
    expect(after.stdout).toMatch(/^words\nwebhook(\t.*)?\n$/);
  });
});

function bash(line: string, tail: string, type = '9', columns = '80'): Promise<string | undefined> {
  return complete(program, ['bash', type, columns, tail, line], system);
}
