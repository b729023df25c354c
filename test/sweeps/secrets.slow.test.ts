import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodesOf } from '../../src/cli/app/command.ts';
import { GLOBAL_PARAMETERS } from '../../src/cli/app/global-parameters.ts';
import { optionWords, type Parameter } from '../../src/cli/app/parameter.ts';
import { type HereResult, svcHere } from '../support/run-here.ts';
import { BAD_RESPONSES, CANARY } from '../support/bad-responses.ts';
import { LASTING } from '../support/command-lines.ts';
import { faultIn, MACHINE_FORMATS } from '../support/machine-formats.ts';
import { allCommands } from '../support/tree.ts';
import { World, type WorldOptions } from '../support/world.ts';

const KEY = 'canary-key-Zx81-do-not-show';
const KEYS = { SVC_MANAGEMENT_API_KEY: KEY, SVC_PRIVATE_API_KEY: KEY };
const FORMATS = ['table', ...MACHINE_FORMATS];
/**
 * Whether each response is tested with all formats, and each command with all options that every command has. Otherwise
 * they are tested by turns.
 */
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
  it.each(requesting)(
    'R06 and R52: svc %s shows none and parses, whatever it gets in response',
    async (words, command) => {
      await world.copy(async (run) => {
        for (const [turn, [name, respond]] of Object.entries(BAD_RESPONSES).entries())
          for (const format of IS_SOAK ? FORMATS : FORMATS.slice(turn % 5, (turn % 5) + 1)) {
            const options: WorldOptions = { respond, env: KEYS, input: `${KEY}\n` };
            const shown = await run(words, ['--debug', '-o', format, '--timeout', '30s'], options);
            expect(secretIn(shown), `${words} -o ${format}, ${name}`).toBeUndefined();
            if (command.permissions === undefined || LASTING.has(words)) continue;
            expect(exitCodesOf(command), `-o ${format}, ${name}: ${shown.stderr}`).toContain(shown.code);
            expect(faultIn(command, format, shown.stdout)).toBeUndefined();
          }
      });
    },
  );

  it.each(commands)('R05 and R06: where a key is pasted anywhere in a line of svc %s', async (words, command) => {
    const lines = linesWithKey(world.argv(words), { ...globalsOf(words), ...command.parameters });
    await world.copy(async (run) => {
      for (const line of lines) {
        const shown = await run(words, [], { argv: line, env: KEYS, respond: refuse });
        expect(secretIn(shown) ?? echoIn(shown), line.join(' ')).toBeUndefined();
      }
    });
  });

  it.each([['help'], ['logs'], ['au'], ['--profile'], ['--profile', 'x', 'help']])(
    'R05: where a key is pasted behind svc %s %s',
    async (...line) => {
      for (const key of PASTED) {
        const { stdout, stderr } = await svcHere([...line, key]);
        expect(stdout + stderr).not.toContain('canary');
      }
    },
  );
});

/** Returns the options of every command with which this one is tested. Whichever is wrong, the same code says so. */
function globalsOf(words: string): Readonly<Record<string, Parameter<unknown>>> {
  const globals = Object.entries(GLOBAL_PARAMETERS);
  const turn = commands.findIndex(([other]) => other === words) % globals.length;
  return Object.fromEntries(IS_SOAK ? globals : globals.slice(turn, turn + 1));
}

/** Keys that svc has never seen, of several forms. */
const PASTED = ['key_prod_7Qx41canary', 'ABCdefGHIjklMNOpqrSTcanary', 'key7=canary', 'svc:canary/key+', '123456canary'];

/** Keys to paste, by turns: the last one is in use. */
const BY_TURNS = [...PASTED, KEY];

/** Returns the error of a line that is wrong if it repeats a pasted key. In a line that is right, that is the name of a file. */
function echoIn({ code, stderr }: HereResult): string | undefined {
  const isWrong = code === 2 || (code === 3 && !stderr.includes('does not exist'));
  return isWrong && stderr.includes('canary') ? stderr : undefined;
}

/** Returns the line of a command with a key in place of each word, beside each word, and as each option and its value. */
function linesWithKey(argv: readonly string[], parameters: Readonly<Record<string, Parameter<unknown>>>): string[][] {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  let at = 0;
  const pasted = (): string => BY_TURNS[at++ % BY_TURNS.length] ?? '';
  const added = (...more: string[]): string[] => argv.toSpliced(end, 0, ...more);
  // What an option takes for the name of a file is shown.
  const options = Object.values(parameters)
    .filter(({ file }) => file === undefined)
    .flatMap((parameter) => optionWords(parameter).at(-1) ?? []);
  return [
    ...argv.map((_, place) => argv.with(place, pasted())),
    ...Array.from({ length: end + 1 }, (_, place) => argv.toSpliced(place, 0, pasted())),
    ...options.flatMap((name) => [
      added(`${name}=${pasted()}`),
      added(name, `a=${pasted()}`),
      added(name, `${pasted()}=x`),
    ]),
    added(`--${pasted()}`),
    added(`--${pasted()}=x`),
    added(`-x${pasted()}`),
  ];
}

const refuse = BAD_RESPONSES['a refusal']!;

const SECRETS = [KEY, Buffer.from(KEY).toString('base64').slice(2, -4), CANARY.signature];

/** Returns the output if it shows a secret; undefined if it does not. */
function secretIn({ stdout, stderr }: HereResult): string | undefined {
  const text = stdout + stderr;
  const shows = SECRETS.some((secret) => text.includes(secret)) || /4111.?1111.?1111.?1111/.test(text);
  return shows ? text : undefined;
}
