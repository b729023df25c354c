import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { optionWords, type Parameter, takesValue } from '../../src/cli/app/parameter.ts';
import { allCommands } from '../support/tree.ts';
import { World, type WorldOptions } from '../support/world.ts';

const CARD = '4111111111111111';

const commands = (await allCommands()).map(({ words, command }) => [words, command] as const);
let world: World;

beforeAll(async () => {
  world = await World.prepare();
});
afterAll(() => world.close());

describe('a card number typed for an argument or an option', () => {
  it.each(commands)('R40: svc %s sends no request with it', async (words, command) => {
    // A tail whose filter matches nothing does not reach --max; without it, the world ends the tail.
    const argv = words === 'logs tail' ? ['logs', 'tail', '--since', '2d'] : world.argv(words);
    const lines = linesWithCard(argv, words, Object.values(command.parameters));
    const sent: string[] = [];
    const intercept: WorldOptions['intercept'] = (request) => {
      const at = sent.push(`${request.method} ${request.url}\n`) - 1;
      request.on('data', (part: Buffer) => (sent[at] += String(part)));
      return false;
    };
    await world.copy(async (run) => {
      for (const line of lines) {
        await run(words, [], { argv: line, intercept });
        expect(
          sent.filter((one) => one.includes(CARD)),
          line.join(' '),
        ).toEqual([]);
      }
    });
  });
});

/**
 * Returns the line of a command with the card number in place of each argument, and as the value of each option. An option
 * that takes a count takes the digits for a count, which would keep a tail running.
 */
function linesWithCard(argv: readonly string[], words: string, parameters: readonly Parameter<unknown>[]): string[][] {
  const depth = words.split(' ').length;
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  const typed = argv.flatMap((word, at) => (at < depth || word.startsWith('-') ? [] : [argv.with(at, CARD)]));
  const added = argv.toSpliced(end, 0, CARD);
  const options = parameters
    .filter((parameter) => takesValue(parameter) && !parameter.syntax.endsWith('<n>'))
    .flatMap((parameter) => optionWords(parameter).at(-1) ?? []);
  const texts = [CARD, `a=${CARD}`];
  return [...typed, added, ...options.flatMap((option) => texts.map((text) => argv.toSpliced(end, 0, option, text)))];
}
