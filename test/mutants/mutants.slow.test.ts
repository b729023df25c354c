import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'rolldown/utils';
import { describe, expect, it, onTestFinished } from 'vitest';
import { IS_SOAK } from '../support/cases.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const project = join(here, '../..');

/** A project with the parts that the draw needs: a build, a function, a program that uses it, and their tests. */
const PROJECT = {
  'package.json': '{ "type": "module", "scripts": { "build": "node build.mjs" } }',
  'tsconfig.json':
    '{ "compilerOptions": { "strict": true, "module": "nodenext", "allowImportingTsExtensions": true, "noEmit": true } }',
  'vitest.config.ts': `export default { test: { include: ['test/*.test.ts'] } };`,
  'build.mjs': `
    import { rolldown } from 'rolldown';
    const bundle = await rolldown({ input: 'src/program.ts', platform: 'node' });
    await bundle.write({ file: 'dist/program.mjs' });
  `,
  'src/size.ts': `
    export function isLarge(bytes: number): boolean {
      return bytes > 10;
    }

    export function named(name: string): string {
      return 'file ' + name;
    }

    export function untested(bytes: number): boolean {
      return bytes < 20;
    }
  `,
  'src/program.ts': `
    import process from 'node:process';
    import { isLarge } from './size.ts';

    const bytes = Number(process.argv.at(-1));
    const isSmall = !isLarge(bytes);
    process.exitCode = isSmall ? 0 : 4;
  `,
  'test/size.test.ts': `
    import { expect, it } from 'vitest';
    import { isLarge, named } from '../src/size.ts';

    it('is large from 11 bytes on', () => {
      expect([0, 100].map(isLarge)).toEqual([false, true]);
      expect(named('x')).toBe('file x');
    });
  `,
  'test/program.test.ts': `
    import { spawnSync } from 'node:child_process';
    import { expect, it } from 'vitest';

    it('tells by its exit code whether a file is large', () => {
      expect(spawnSync(process.execPath, ['dist/program.mjs', '100'], { env: {} }).status).toBe(4);
    });
  `,
};

/** Test files beside those of the project. The last one repeats a part of the first one. */
const BOUNDS = {
  'test/bounds.test.ts': `
    import { describe, expect, it } from 'vitest';
    import { isLarge } from '../src/size.ts';

    describe('up to 10 bytes', () => it('is not large', () => expect(isLarge(10)).toBe(false)));
    describe('from 11 bytes on', () => it('is large', () => expect(isLarge(11)).toBe(true)));
  `,
  'test/again.test.ts': `
    import { expect, it } from 'vitest';
    import { isLarge } from '../src/size.ts';

    it('is large from 11 bytes on', () => expect(isLarge(11)).toBe(true));
  `,
};

// Each draw starts Vitest eight times, so most options are tried in a soak only.
describe('npm run mutants', () => {
  it('npm run mutants names the changes that no test notices, in src and in the built program', () => {
    const { status, lines } = draw(PROJECT);
    expect(lines.slice(0, 3)).toEqual([
      '11 of 11 changes in 2 files, seed 1',
      'the type checker rejects 1',
      '2 more test files, which pass without a change: 5 of 10 changes noticed',
    ]);
    expect(lines.slice(3)).toEqual([
      'src/program.ts:7:34 survived: `0` as `0 + 1`; no test reaches it',
      'src/size.ts:3:14 survived: `bytes > 10` as `(bytes) >= (10)`; test files that reach it: 2',
      'src/size.ts:3:22 survived: `10` as `10 + 1`; test files that reach it: 2',
      'src/size.ts:11:14 survived: `bytes < 20` as `(bytes) <= (20)`; no test reaches it',
      'src/size.ts:11:22 survived: `20` as `20 + 1`; no test reaches it',
      'src: 5 of 10 noticed',
      '5 noticed, 5 survived',
    ]);
    expect(status).toBe(0);
  });

  it('npm run mutants stops where the tests fail without a change', () => {
    const failing = `import { expect, it } from 'vitest'; it('fails', () => expect(1).toBe(2));`;
    const { status, lines } = draw({ ...PROJECT, 'test/failing.test.ts': failing });
    expect(status).toBe(1);
    expect(lines.at(-1)).toBe('these tests fail without a change, so they cannot show what a change does');
  });

  it('npm run mutants draws the same changes for the same seed', async () => {
    const { drawn } = (await import(join(here, 'draw.mjs'))) as {
      drawn: (all: readonly object[], count: number, seed: number) => object[];
    };
    const all = Array.from({ length: 100 }, (_, at) => ({ at }));
    const [one, same, other] = [1, 1, 2].map((seed) => JSON.stringify(drawn(structuredClone(all), 10, seed)));
    expect(same).toBe(one);
    expect(other).not.toBe(one);
  });

  it.runIf(IS_SOAK)('npm run mutants --without a test file names the changes that no other test notices', () => {
    const { status, lines } = draw({ ...PROJECT, ...BOUNDS }, '--without', 'test/bounds.test.ts');
    expect(lines).toEqual([
      '2 of 2 changes in 1 files, seed 1',
      'the type checker rejects 0',
      'the suite notices 2 of 2',
      '3 more test files, which pass without a change: 1 of 2 changes noticed',
      'src/size.ts:3:14 noticed by the suite alone: `bytes > 10` as `(bytes) >= (10)`; other test files that reach it: 3',
      '1 noticed by others too, 1 by the suite alone',
    ]);
    expect(status).toBe(0);
  });

  it.runIf(IS_SOAK)('npm run mutants --without a block of a test file tries the other tests of that file too', () => {
    const { 'test/bounds.test.ts': bounds } = BOUNDS;
    const words = ['--without', 'test/bounds.test.ts', '--named', 'from 11 bytes on'];
    expect(draw({ ...PROJECT, 'test/bounds.test.ts': bounds }, ...words).lines.slice(2)).toEqual([
      'the suite notices 1 of 2',
      '3 more test files, which pass without a change: 0 of 1 changes noticed',
      'src/size.ts:3:22 noticed by the suite alone: `10` as `10 + 1`; other test files that reach it: 3',
      '0 noticed by others too, 1 by the suite alone',
    ]);
  });

  it.runIf(IS_SOAK)(
    'npm run mutants --suite-last tries only what the nearest tests do not notice with a slow test file',
    () => {
      const words = ['--without', 'test/bounds.test.ts', '--suite-last'];
      expect(draw({ ...PROJECT, ...BOUNDS }, ...words).lines.slice(2)).toEqual([
        'the nearest 2 test files notice 1 of 2',
        'the suite notices 1 of 1',
        '3 more test files, which pass without a change: 0 of 1 changes noticed',
        'src/size.ts:3:14 noticed by the suite alone: `bytes > 10` as `(bytes) >= (10)`; other test files that reach it: 3',
        '0 noticed by others too, 1 by the suite alone',
      ]);
    },
  );

  it.runIf(IS_SOAK)('npm run mutants --slow tries the slow tests of a pattern with what no other test notices', () => {
    const words = [
      '--slow',
      'test/**',
      '--files',
      'src/size.ts',
      '--count',
      '5',
      '--files',
      'src/program.ts',
      '--count',
      '6',
    ];
    const { 'test/bounds.test.ts': bounds } = BOUNDS;
    const { lines } = draw({ ...PROJECT, 'test/size.slow.test.ts': bounds }, ...words);
    expect(lines.slice(0, 2)).toEqual(['5 of 5 changes in 1 files, seed 1', '6 of 6 changes in 1 files, seed 1']);
    expect(lines).toContain('the nearest 1 test files notice 2 of 5');
  });

  it('npm run mutants can put all changes of a source file into its text at once', async () => {
    const { changesIn } = (await import(join(here, 'changes.mjs'))) as {
      changesIn: (path: string, text: string) => { number?: number }[];
    };
    const { instrumented } = (await import(join(here, 'instrument.mjs'))) as {
      instrumented: (text: string, changes: readonly object[], switchFile: string) => string;
    };
    const listed = spawnSync('git', ['ls-files', 'src/*.ts'], { cwd: project, encoding: 'utf8' })
      .stdout.trim()
      .split('\n');
    // Each file in a soak, otherwise every eighth.
    const tried = listed.filter((_, at) => IS_SOAK || at % 8 === 0);
    let count = 0;
    for (const path of tried) {
      const text = readFileSync(join(project, path), 'utf8');
      const changes = changesIn(path, text);
      for (const [number, change] of changes.entries()) change.number = number;
      count += changes.length;
      const whole = instrumented(text, changes, '/switch.ts');
      expect({ path, errors: parseSync(path, whole).errors }).toEqual({ path, errors: [] });
    }
    expect(count).toBeGreaterThan(1_000);
  });
});

function draw(
  files: Readonly<Record<string, string>>,
  ...options: string[]
): { status: number | null; lines: string[] } {
  const directory = mkdtempSync(join(tmpdir(), 'svc-draw-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries({ ...files, '.gitignore': 'node_modules\ndist\n' })) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  symlinkSync(join(project, 'node_modules'), join(directory, 'node_modules'));
  spawnSync('git', ['init', '--quiet'], { cwd: directory });
  const args = [join(here, 'mutants.mjs'), ...(options.includes('--count') ? [] : ['--count', '100']), ...options];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: directory, encoding: 'utf8' });
  expect(stderr).toBe('');
  return { status, lines: stdout.trimEnd().split('\n') };
}
