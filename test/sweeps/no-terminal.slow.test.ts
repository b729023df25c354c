import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodesOf } from '../../src/cli/app/command.ts';
import { LASTING } from '../support/command-lines.ts';
import { errorIn, type HereResult } from '../support/run-here.ts';
import { allCommands } from '../support/tree.ts';
import { World } from '../support/world.ts';

const commands = (await allCommands()).map(({ words, command }) => [words, command] as const);
let world: World;

beforeAll(async () => {
  world = await World.prepare();
});
afterAll(() => world.close());

describe('without a terminal', () => {
  it.each(commands)(
    'R54: svc %s asks nothing: it ends, and names the option that is missing',
    async (words, command) => {
      const bare = words.split(' ');
      const asking = world.argv(words).filter((word) => word !== '--yes');
      const unconfirmed = asking.filter((word, at) => !word.startsWith('--confirm') && asking[at - 1] !== '--confirm');
      for (const argv of [bare, asking, unconfirmed]) {
        const run = await world.run(words, ['-o', 'json'], { argv, input: '' });
        expect([...exitCodesOf(command), ...(LASTING.has(words) ? [143] : [])], run.stderr).toContain(run.code);
        expect(unnamedOption(run)).toBeUndefined();
      }
    },
  );
});

/** Returns an error that demands input without naming an option for it; undefined if there is none. */
function unnamedOption(run: HereResult): unknown {
  if (run.code !== 2) return undefined;
  const { code, message, hint, next } = errorIn(run);
  const names = / --\w/.test(`${String(message)} ${String(hint)} ${String(next)}`);
  return code === 'input_needed' && !names ? run.stderr : undefined;
}
