import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LASTING } from '../support/command-lines.ts';
import { allCommands } from '../support/tree.ts';
import { World } from '../support/world.ts';

const COLUMNS = 40;

/** Commands that print a document or a script, whose lines must stay as they are. */
const DOCUMENTS = /^(?:3ds template|completion (?!install))/;

const commands = (await allCommands()).map(({ words }) => words);
let world: World;

beforeAll(async () => {
  world = await World.prepare();
});
afterAll(() => world.close());

describe('on a terminal of 40 columns', () => {
  it.each(['', ...commands.filter((words) => !LASTING.has(words) && !DOCUMENTS.test(words))])(
    'svc %s on a terminal of 40 columns breaks its lines between words',
    async (words) => {
      const line = words === '' ? { argv: [] } : {};
      const { stdout, stderr } = await world.run(words, words === '' ? [] : ['-o', 'table'], {
        columns: COLUMNS,
        ...line,
      });
      const lines = stripVTControlCharacters(`${stdout}${stderr}`).split('\n');
      // A path, a hash or a command that is alone on its line is never broken, so that it can be copied.
      const wide = lines.filter((line) => line.length > COLUMNS && !/^ *svc /.test(line));
      expect(wide.filter((line) => / \S/.test(line.trim().replace(/^error: /, '')))).toEqual([]);
    },
  );
});
