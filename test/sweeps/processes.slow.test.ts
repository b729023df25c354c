import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LASTING } from '../support/command-lines.ts';
import { allCommands } from '../support/tree.ts';
import { World } from '../support/world.ts';

const FORMATS = ['table', 'json', 'jsonl', 'csv', 'yaml'];
const IS_SOAK = process.env['SOAK'] !== undefined;

/** Commands that end by themselves, each with one format, or with all formats in a soak. */
const runs = (await allCommands())
  .filter(({ words }) => !LASTING.has(words))
  .flatMap(({ words }, turn) => {
    const formats = IS_SOAK ? FORMATS : FORMATS.slice(turn % 5, (turn % 5) + 1);
    return formats.map((format) => ({ words, format }));
  });
let world: World;

beforeAll(async () => {
  world = await World.prepare();
});
afterAll(() => world.close());

describe('a process', () => {
  it.each(runs)('R51: svc $words -o $format fails when its output cannot be written', async ({ words, format }) => {
    const usual = await world.shell(words, ['-o', format], '');
    const full = await world.shell(words, ['-o', format], '> /dev/full');
    const fails = usual.stdout !== '';
    expect({ code: full.code, says: full.stderr.includes('could not be written') }).toEqual({
      code: fails ? 1 : usual.code,
      says: fails,
    });
  });
});
