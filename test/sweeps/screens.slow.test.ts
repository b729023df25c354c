import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LASTING } from '../support/command-lines.ts';
import { allCommands } from '../support/tree.ts';
import { World } from '../support/world.ts';

const COLUMNS = 40;

/** Commands that print a script, and those that print a document to every reader. */
const SCRIPTS = new Set(['bash', 'fish', 'powershell', 'zsh'].map((shell) => `completion ${shell}`));
const DOCUMENTS = new Set(['3ds template', 'sandbox cards', 'tenant export']);

const shown = (await allCommands())
  .map(({ words }) => words)
  .filter((words) => !LASTING.has(words) && !SCRIPTS.has(words));
let world: World;

beforeAll(async () => {
  world = await World.prepare();
});
afterAll(() => world.close());

it.each(['', ...shown.filter((words) => words !== '3ds template')])(
  'svc %s on a terminal of 40 columns breaks its lines between words',
  async (words) => {
    const line = words === '' ? { argv: [] } : {};
    const more = words === '' ? [] : ['-o', 'table'];
    const { stdout, stderr } = await world.run(words, more, { columns: COLUMNS, ...line });
    const lines = stripVTControlCharacters(`${stdout}${stderr}`).split('\n');
    // A path, a hash or a command that is alone on its line is never broken, so that it can be copied.
    const wide = lines.filter((line) => line.length > COLUMNS && !/^ *svc /.test(line));
    expect(wide.filter((line) => / \S/.test(line.trim().replace(/^error: /, '')))).toEqual([]);
  },
);

it.each(shown.filter((words) => !DOCUMENTS.has(words)))(
  'svc %s --plain has words and numbers alone: no columns, no drawing, no dash for what is missing',
  async (words) => {
    const { stdout, stderr } = await world.run(words, ['-o', 'table', '--plain'], { columns: 80 });
    const text = `${stdout}${stderr}`;
    expect(text).toMatch(/^[\n\x20-\x7e]*$/);
    expect(text).not.toMatch(/\S {2,}\S|: -$|^ *[-+] |[#|]{2}|\.{4}/m);
  },
);
