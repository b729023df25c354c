import { afterAll, beforeAll, expect, it } from 'vitest';
import { brokenStream } from '../cli/output/streams.ts';
import { IS_SOAK } from '../support/cases.ts';
import { LASTING } from '../support/command-lines.ts';
import { allCommands } from '../support/tree.ts';
import { World } from '../support/world.ts';

const MACHINE_FORMATS = ['json', 'jsonl', 'csv', 'yaml'];

/** Every command that ends by itself, with a table and one of the other formats, in this process and in one by turns. */
const commands = (await allCommands())
  .filter(({ words }) => !LASTING.has(words))
  .map(({ words }, turn) => {
    const formats = ['table', MACHINE_FORMATS[turn % 4] ?? ''];
    return { words, format: formats[turn % 2] ?? '', other: formats[(turn + 1) % 2] ?? '' };
  });
let world: World;

beforeAll(async () => {
  world = await World.prepare();
});
afterAll(() => world.close());

it.each(commands)(
  'R51: svc $words fails when its output cannot be written with -o $other',
  async ({ words, other }) => {
    const usual = await world.run(words, ['-o', other]);
    const full = await world.run(words, ['-o', other], { stdout: brokenStream('ENOSPC') });
    expect(outcomeOf(full)).toEqual(expected(usual));
  },
);

/** Commands write in one place, which is tried in this process with each of them, and as a process with some. */
const some = commands.filter((_, turn) => IS_SOAK || turn % 9 === 0);

it.each(some)('R51: svc $words > /dev/full fails with -o $format', async ({ words, format }) => {
  const usual = await world.run(words, ['-o', format]);
  expect(outcomeOf(await world.shell(words, ['-o', format], '> /dev/full'))).toEqual(expected(usual));
});

function outcomeOf({ code, stderr }: { readonly code: number | null; readonly stderr: string }) {
  return { code, says: stderr.includes('could not be written') };
}

function expected({ code, stdout }: { readonly code: number; readonly stdout: string }) {
  const fails = stdout !== '';
  return { code: fails ? 1 : code, says: fails };
}
