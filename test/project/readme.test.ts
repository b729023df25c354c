import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandsOf, readBlocks, type Block } from '../support/readme-blocks.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const blocks = readBlocks(readFileSync(join(project, 'README.md'), 'utf8'));
const commands = blocks.filter(isRun).flatMap(commandsOf);

/** Where the commands run: the project as a clone shows it, in a directory and a home of its own. */
const clone = mkdtempSync(join(tmpdir(), 'svc-readme-'));

beforeAll(() => {
  for (const name of ['bin', 'dist', 'src', 'package.json'])
    symlinkSync(join(project, name), join(clone, name));
  mkdirSync(join(clone, 'home/bin'), { recursive: true });
  const svc = join(clone, 'home/bin/svc');
  writeFileSync(svc, `#!/bin/sh\nexec '${process.execPath}' '${join(project, 'bin/svc.js')}' "$@"\n`);
  chmodSync(svc, 0o755);
});

afterAll(() => rmSync(clone, { recursive: true, force: true }));

describe('README.md', () => {
  it('opens with the command that does the main job, and the one that tests', () => {
    expect(commands[0]).toMatch(
      /^npm ci && node bin\/svc\.js --sandbox au submit \S+ --wait --out results\.csv$/,
    );
    expect(commands[1]).toMatch(/^npm (ci && npm )?test$/);
  });

  it('marks every block of commands as `sh`, so that it is run here', () => {
    const unmarked = blocks.filter(
      ({ language, text }) => language !== 'sh' && /^(\$ )?(svc|npm|npx|node) /m.test(text),
    );
    expect(unmarked.map(({ line, text }) => `line ${line}: ${text}`)).toEqual([]);
  });

  it.each(blocks.filter(isRun))('line $line works as typed', ({ text }) => {
    const { status, stderr } = run(text);
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  });
});

describe('reading README.md', () => {
  it('finds blocks, their marks and the commands in them', () => {
    const text =
      'a\n\n```sh account\nsvc logs \\\n  --all\n# why\n\nsvc whoami\n```\n- b\n  ```json\n  {}\n  ```\n';
    const found = readBlocks(text);
    expect(found.map(({ line, language, marks }) => ({ line, language, marks }))).toEqual([
      { line: 3, language: 'sh', marks: ['account'] },
      { line: 11, language: 'json', marks: [] },
    ]);
    expect(found.map(commandsOf)).toEqual([['svc logs --all', 'svc whoami'], ['{}']]);
    expect(() => readBlocks('```sh\nsvc')).toThrow('not closed');
  });

  it('notices a command that fails, also as the first of several or in a pipe', () => {
    expect(run('false\ntrue').status).toBe(1);
    expect(run('false | cat').status).toBe(1);
    expect(run('npm ci && test -f bin/svc.js\nnpm test').status).toBe(0);
  });
});

/** Marked `account`: needs a key of the live service. Marked `by-hand`: waits for a person or never ends. */
function isRun({ language, marks }: Block): boolean {
  return language === 'sh' && !marks.includes('account') && !marks.includes('by-hand');
}

/** Runs a block as typed; installing and testing are what already happened when this runs. */
function run(text: string): { status: number | null; stderr: string } {
  const script = text.replaceAll(/^npm ci && /gm, '').replaceAll(/^npm (ci|test)$/gm, 'true');
  return spawnSync('bash', ['-eu', '-o', 'pipefail', '-c', script], {
    cwd: clone,
    encoding: 'utf8',
    timeout: 15_000,
    env: {
      HOME: join(clone, 'home'),
      PATH: [join(clone, 'home/bin'), dirname(process.execPath), process.env['PATH']].join(delimiter),
      CI: 'true',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
