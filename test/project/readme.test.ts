import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { commandsOf, readBlocks, type Block } from '../support/readme-blocks.ts';
import { temporaryDirectory } from '../support/directory.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(project, 'README.md'), 'utf8');
const blocks = readBlocks(page);
const commands = blocks.flatMap(commandsOf);

describe('README.md', () => {
  it('README.md begins with the command that submits a file to the sandbox, then the command that runs the tests', () => {
    expect(commands[0]).toMatch(/^npm ci && node bin\/svc\.js --sandbox au submit \S+ --wait --out results\.csv$/);
    expect(commands[1]).toMatch(/^npm (ci && npm )?test$/);
  });

  it('README.md has at most 950 words', () => {
    expect(page.split(/\s+/).length).toBeLessThanOrEqual(950);
  });

  it('README.md marks every block of commands as `sh`, so that this test file runs it', () => {
    const unmarked = blocks.filter(
      ({ language, text }) => language !== 'sh' && /^(\$ )?(svc|npm|npx|node) /m.test(text),
    );
    expect(unmarked.map(({ line, text }) => `line ${line}: ${text}`)).toEqual([]);
  });

  it('.ci/run types each block of commands of README.md, in order, but those for a live key or another machine', () => {
    const directory = temporaryDirectory();
    execFileSync(join(project, '.ci/readme-blocks'), [directory]);
    const typed = readdirSync(directory).toSorted();
    expect(typed.map((name) => readFileSync(join(directory, name), 'utf8').trimEnd())).toEqual(
      blocks.filter(isTyped).map(({ text }) => text),
    );
  });
});

it('the reader of README.md finds blocks with their languages, marks and commands', () => {
  const text = 'a\n\n```sh account\nsvc logs \\\n  --all\n# why\n\nsvc whoami\n```\n- b\n  ```json\n  {}\n  ```\n';
  const found = readBlocks(text);
  expect(found.map(({ line, language, marks }) => ({ line, language, marks }))).toEqual([
    { line: 3, language: 'sh', marks: ['account'] },
    { line: 11, language: 'json', marks: [] },
  ]);
  expect(found.map(commandsOf)).toEqual([['svc logs --all', 'svc whoami'], ['{}']]);
  expect(() => readBlocks('```sh\nsvc')).toThrow('not closed');
});

function isTyped({ language, marks }: Block): boolean {
  return language === 'sh' && !marks.includes('account') && !marks.includes('by-hand');
}
