import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { allCommands } from '../support/tree.ts';

const root = fileURLToPath(new URL('../../src/', import.meta.url));
/** A next command in the source code: `next: ['au', 'download', id]`. */
const NEXT = /\b(?:next|command): \[((?:'[\w-]+'(?:, )?)+)([^\]]*)\]/g;

const commands = new Map((await allCommands()).map(({ words, command }) => [words, command]));
const sources = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

it('the commands that messages name exist, with every argument that they need', () => {
  const found = sources.flatMap((file) => problemsIn(readFileSync(path.join(root, file), 'utf8'), file));
  expect(found).toEqual([]);
});

it('the commands that messages name are found when they do not', () => {
  expect(problemsIn("next: ['au', 'list']", 'x.ts')).toEqual(['x.ts: au list is no command']);
  expect(problemsIn("next: ['au', 'download']", 'x.ts')).toEqual(['x.ts: au download needs an argument']);
  expect(problemsIn("next: ['au', 'download', id]", 'x.ts')).toEqual([]);
});

function problemsIn(code: string, file: string): string[] {
  return [...code.matchAll(NEXT)].flatMap(([, literals = '', rest = '']) => {
    const words = [...literals.matchAll(/'([\w-]+)'/g)].map(([, word = '']) => word);
    const name = [3, 2, 1].map((count) => words.slice(0, count).join(' ')).find((each) => commands.has(each));
    const command = commands.get(name ?? '');
    const isGroup = words[0] === 'help' || [...commands.keys()].some((each) => each.startsWith(`${words.join(' ')} `));
    if (name === undefined || command === undefined)
      return isGroup ? [] : [`${file}: ${words.join(' ')} is no command`];
    const needed = Object.values(command.parameters).filter(({ syntax }) => syntax.startsWith('<')).length;
    const given = words.length - name.split(' ').length + rest.split(',').filter((word) => word.trim() !== '').length;
    return given >= needed ? [] : [`${file}: ${name} needs an argument`];
  });
}
