import { parse as parseCsv } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { exitCodesOf, type Command } from '../../src/cli/app/command.ts';
import { BAD_RESPONSES } from '../support/bad-responses.ts';
import { COMMAND_LINES, exitCodeOf, LASTING } from '../support/command-lines.ts';
import { allCommands } from '../support/tree.ts';
import { World } from '../support/world.ts';

/** The parser of each format, which throws if a text is malformed. */
const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  json: (text) => JSON.parse(text) as unknown,
  jsonl: (text) => lines(text).map((line) => JSON.parse(line) as unknown),
  csv: (text) => parseCsv(text, { columns: true }),
  yaml: (text) => {
    const document = parseDocument(text);
    if (document.errors[0] !== undefined) throw document.errors[0];
  },
};

const FORMATS = Object.keys(PARSERS);

const commands = (await allCommands()).map(({ words, command }) => [words, command] as const);
const asking = commands.filter(([words, { permissions }]) => permissions !== undefined && !LASTING.has(words));
let world: World;

beforeAll(async () => {
  world = await World.prepare();
});
afterAll(() => world.close());

describe('what every command prints for programs', () => {
  it.each(commands)('R52: svc %s parses in every format', async (words, command) => {
    for (const format of FORMATS) {
      const { code, stdout, stderr } = await world.run(words, ['-o', format]);
      const isRefused = code === 2 && stdout === '' && stderr.includes('written as');
      const expected = LASTING.has(words) ? 143 : isRefused ? 2 : exitCodeOf(COMMAND_LINES[words]);
      expect({ format, code, stderr: code === expected ? '' : stderr }).toEqual({ format, code: expected, stderr: '' });
      expect(faultIn(command, format, stdout)).toBeUndefined();
    }
  });

  it.each(asking)('R52: svc %s parses when the service responds badly', async (words, command) => {
    await world.copy(async (run) => {
      for (const [turn, [name, respond]] of Object.entries(BAD_RESPONSES).entries()) {
        const format = FORMATS[turn % FORMATS.length] ?? 'json';
        const { code, stdout, stderr } = await run(words, ['-o', format, '--timeout', '30s'], { respond });
        expect(exitCodesOf(command), `-o ${format}, ${name}: ${stderr}`).toContain(code);
        expect(faultIn(command, format, stdout)).toBeUndefined();
      }
    });
  });
});

/** Returns why output is malformed; undefined if it is not. A command without fields prints no data to parse. */
function faultIn({ fields }: Command, format: string, text: string): unknown {
  if (text === '' || fields === undefined) return undefined;
  try {
    PARSERS[format]?.(text);
    return undefined;
  } catch (error) {
    return { format, text, error };
  }
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}
