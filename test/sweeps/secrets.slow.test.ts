import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HereResult } from '../support/run-here.ts';
import { BAD_RESPONSES, CANARY } from '../support/bad-responses.ts';
import { allCommands } from '../support/tree.ts';
import { World, type WorldOptions } from '../support/world.ts';

const KEY = 'canary-key-Zx81-do-not-show';
const KEYS = { SVC_MANAGEMENT_API_KEY: KEY, SVC_PRIVATE_API_KEY: KEY };
const FORMATS = ['table', 'json', 'jsonl', 'csv', 'yaml'];
/** Whether each response is tested with all formats. Otherwise it is tested with one of them, by turns. */
const IS_SOAK = process.env['SOAK'] !== undefined;

const commands = (await allCommands()).map(({ words, command }) => [words, command] as const);
const requesting = commands.filter(
  ([words, { permissions }]) => permissions !== undefined || ['whoami', 'doctor', 'login'].includes(words),
);
let world: World;

beforeAll(async () => {
  world = await World.prepare();
});
afterAll(() => world.close());

describe('no key, card number or signed address shows', () => {
  it.each(requesting)('R06: whatever svc %s gets in response, with --debug', async (words) => {
    await world.copy(async (run) => {
      for (const [turn, [name, respond]] of Object.entries(BAD_RESPONSES).entries())
        for (const format of IS_SOAK ? FORMATS : FORMATS.slice(turn % 5, (turn % 5) + 1)) {
          const options: WorldOptions = { respond, env: KEYS, input: `${KEY}\n` };
          const shown = await run(words, ['--debug', '-o', format, '--timeout', '30s'], options);
          expect(secretIn(shown), `${words} -o ${format}, ${name}`).toBeUndefined();
        }
    });
  });

  it.each(commands)('R06: where a key is pasted anywhere in a line of svc %s', async (words, command) => {
    const argv = world.argv(words);
    const options = Object.values(command.parameters)
      .map(({ syntax }) => /--[\w-]+/.exec(syntax)?.[0])
      .filter((name) => name !== undefined);
    const lines = [
      ...argv.map((_, at) => argv.with(at, KEY)),
      ...[...argv, ''].map((_, at) => argv.toSpliced(at, 0, KEY)),
      ...options.flatMap((name) => [
        [...argv, name, KEY],
        [...argv, `${name}=${KEY}`],
      ]),
      [...argv, `--${KEY}`],
      [...argv, `--${KEY}=x`],
    ];
    await world.copy(async (run) => {
      for (const line of lines) {
        const shown = await run(words, [], { argv: line, env: KEYS, respond: refuse });
        expect(secretIn(shown), line.join(' ')).toBeUndefined();
      }
    });
  });
});

const refuse = BAD_RESPONSES['a refusal']!;

const SECRETS = [KEY, Buffer.from(KEY).toString('base64').slice(2, -4), CANARY.signature];

/** Returns the output if it shows a secret; undefined if it does not. */
function secretIn({ stdout, stderr }: HereResult): string | undefined {
  const text = stdout + stderr;
  const shows = SECRETS.some((secret) => text.includes(secret)) || /4111.?1111.?1111.?1111/.test(text);
  return shows ? text : undefined;
}
