import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LASTING } from '../support/command-lines.ts';
import { allCommands } from '../support/tree.ts';
import { World } from '../support/world.ts';

/** Commands that print a document or a script to every reader. */
const DOCUMENTS = new Set(['3ds template', 'sandbox cards', 'tenant export']);

const commands = (await allCommands()).map(({ words }) => words);
let world: World;

beforeAll(async () => {
  world = await World.prepare();
});
afterAll(() => world.close());

describe('for a screen reader', () => {
  it.each(commands.filter((words) => !LASTING.has(words) && !DOCUMENTS.has(words) && !words.startsWith('completion ')))(
    'svc %s --plain has words and numbers alone: no columns, no drawing, no dash for what is missing',
    async (words) => {
      const { stdout, stderr } = await world.run(words, ['-o', 'table', '--plain'], { columns: 80 });
      const text = `${stdout}${stderr}`;
      expect(text).toMatch(/^[\n\x20-\x7e]*$/);
      expect(text).not.toMatch(/\S {2,}\S|: -$|^ *[-+] |[#|]{2}|\.{4}/m);
    },
  );
});
