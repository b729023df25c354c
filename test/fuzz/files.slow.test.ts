import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorIn, type HereResult } from '../support/run-here.ts';
import { World } from '../support/world.ts';
import { changes, mutate } from './mutate.ts';

/** Files that somebody else may have written, changed or damaged, and the command lines that read them. */
const READERS: Readonly<Record<string, readonly [file: RegExp, lines: readonly string[]]>> = {
  'a request file': [/^tokens\.csv$/, ['au check tokens.csv', 'au submit tokens.csv --dry-run']],
  'a result file': [
    /^results\.csv$/,
    ['au report results.csv --request tokens.csv', 'au next tokens.csv results.csv --out next.csv'],
  ],
  'a body': [
    /^body\.json$/,
    [
      '3ds validate body.json',
      '3ds authenticate {session} --file body.json --dry-run',
      'tenant update --file body.json --dry-run',
    ],
  ],
  'an archive': [/^audit\//, ['logs verify audit', 'logs search audit', 'logs archive audit', 'logs stats audit']],
  'a ledger entry': [
    /svc\/ledger\/.*\/cycles\/.*\.json$/,
    ['au status', 'au resume --dry-run', 'au resume', 'au submit tokens.csv --dry-run'],
  ],
  'a journal of events': [/^events\.jsonl$/, ['events replay events.jsonl --forward-to {url}/hooks']],
  'a config file': [
    /config\.json$/,
    ['profile list', 'whoami', 'profile set output json --profile spare', 'login --management-key-stdin'],
  ],
};

const IS_SOAK = process.env['SOAK'] !== undefined;

/** The number of cases: many in a soak; otherwise few, with a fixed seed. */
const CASES = IS_SOAK ? { numRuns: 300 } : { numRuns: 5, seed: 11 };

/** The folder of cases that failed once, or that chance would not find. `<reader>.<name>` is a file to read. */
const kept = fileURLToPath(new URL('cases/', import.meta.url));

let world: World;

beforeAll(async () => {
  world = await World.prepare();
});
afterAll(() => world.close());

describe('whatever the bytes are', () => {
  it.each(Object.entries(READERS))(
    'R49: of %s, a command reads it or says what is wrong with it',
    { timeout: 3_600_000 },
    async (name, [pattern, lines]) => {
      const files = await world.copy(async (_run, directory) =>
        filesIn(directory).filter((file) => pattern.test(file)),
      );
      expect(files, `the world has no file for ${name}`).not.toEqual([]);
      const one = async (file: string, change: (bytes: Buffer) => Buffer, what = 'changed'): Promise<void> =>
        world.copy(async (run, directory) => {
          const path = join(directory, file);
          writeFileSync(path, change(readFileSync(path)));
          for (const line of lines) {
            const argv = line.split(' ').map((word) => world.fill(word));
            const result = await run('', ['-o', 'json', '--timeout', '1m'], { argv });
            expect(unexplained(result), `${line} with ${file} ${what}: ${result.stderr}`).toBeUndefined();
          }
        });
      for (const [at, [what, bytes]] of keptCases(name).entries())
        for (const file of IS_SOAK ? files : files.slice(at % files.length).slice(0, 1))
          await one(file, () => bytes, what);
      const anyFile = fc.constantFrom(...files);
      await fc.assert(
        fc.asyncProperty(anyFile, changes, (file, list) => one(file, (bytes) => mutate(bytes, list))),
        CASES,
      );
    },
  );
});

/** Returns what is wrong with the end of a command: a bug, a failure without a message, or a shown card number. */
function unexplained(result: HereResult): unknown {
  if (/(?<![\da-z.])4242424242424242(?![\da-z])/i.test(result.stdout + result.stderr)) return 'shows a card number';
  if (result.code === 0) return undefined;
  if (result.stderr.trim() === '' && result.stdout.trim() === '') return 'ended without a word';
  const last = result.stderr.trimEnd().split('\n').at(-1) ?? '';
  return last.startsWith('{') && errorIn(result)['code'] === 'bug' ? errorIn(result) : undefined;
}

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => !file.startsWith('sandbox') && statSync(join(directory, file)).isFile())
    .toSorted();
}

function keptCases(name: string): [name: string, bytes: Buffer][] {
  const cases = readdirSync(kept).filter((file) => file.startsWith(`${name.replaceAll(' ', '-')}.`));
  expect(cases, `no case is kept for ${name}`).not.toEqual([]);
  return cases.map((file) => [file, readFileSync(join(kept, file))]);
}
