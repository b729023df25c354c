import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND_LINES, exitCodeOf, LASTING } from '../support/command-lines.ts';
import { faultIn, MACHINE_FORMATS } from '../support/machine-formats.ts';
import { allCommands } from '../support/tree.ts';
import { World } from '../support/world.ts';

const commands = (await allCommands()).map(({ words, command }) => [words, command] as const);
let world: World;

beforeAll(async () => {
  world = await World.prepare();
});
afterAll(() => world.close());

describe('what every command prints for programs', () => {
  it.each(commands)('R52: svc %s parses in every format', async (words, command) => {
    for (const format of MACHINE_FORMATS) {
      const { code, stdout, stderr } = await world.run(words, ['-o', format]);
      const isRefused = code === 2 && stdout === '' && stderr.includes('written as');
      const expected = LASTING.has(words) ? 143 : isRefused ? 2 : exitCodeOf(COMMAND_LINES[words]);
      expect({ format, code, stderr: code === expected ? '' : stderr }).toEqual({ format, code: expected, stderr: '' });
      expect(faultIn(command, format, stdout)).toBeUndefined();
    }
  });
});
