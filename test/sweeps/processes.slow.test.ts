import { afterAll, beforeAll, expect, it } from 'vitest';
import { LASTING } from '../support/command-lines.ts';
import { allCommands } from '../support/tree.ts';
import { World } from '../support/world.ts';

const MACHINE_FORMATS = ['json', 'jsonl', 'csv', 'yaml'];

/** Every command that ends by itself with a table, and with one of the other formats by turns. */
const runs = (await allCommands())
  .filter(({ words }) => !LASTING.has(words))
  .flatMap(({ words }, turn) => ['table', MACHINE_FORMATS[turn % 4] ?? ''].map((format) => ({ words, format })));
let world: World;

beforeAll(async () => {
  world = await World.prepare();
});
afterAll(() => world.close());

it.each(runs)('R51: svc $words -o $format fails when its output cannot be written', async ({ words, format }) => {
  const usual = await world.run(words, ['-o', format]);
  const full = await world.shell(words, ['-o', format], '> /dev/full');
  const fails = usual.stdout !== '';
  expect({ code: full.code, says: full.stderr.includes('could not be written') }).toEqual({
    code: fails ? 1 : usual.code,
    says: fails,
  });
});
