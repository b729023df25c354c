import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allCommands } from '../support/tree.ts';
import { World } from '../support/world.ts';

const FORMATS = ['table', 'json', 'jsonl', 'csv', 'yaml'];
const IS_SOAK = process.env['SOAK'] !== undefined;

const commands = (await allCommands()).map(({ words }, turn) => [words, turn] as const);
let world: World;

beforeAll(async () => {
  world = await World.prepare();
});
afterAll(() => world.close());

describe('when output cannot be written', () => {
  it.each(commands)('R51: svc %s fails and says so', async (words, turn) => {
    const machine = FORMATS[1 + (turn % 4)] ?? 'json';
    for (const format of IS_SOAK ? FORMATS : ['table', machine]) {
      const usual = await world.run(words, ['-o', format]);
      const { code, stderr } = await world.run(words, ['-o', format], { stdout: full() });
      const fails = usual.stdout !== '';
      expect({ format, code, says: /could not be written/.test(stderr) }).toEqual({
        format,
        code: fails ? 1 : usual.code,
        says: fails,
      });
    }
  });
});

/** Returns a stream on a full disk. */
function full(): Writable {
  return new Writable({
    write(_chunk, _encoding, done) {
      done(Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }));
    },
  });
}
