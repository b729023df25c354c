import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import groups from '../../build/loaded-together.json' with { type: 'json' };
import manifest from '../../package.json' with { type: 'json' };
import { IS_SOAK } from '../support/cases.ts';
import { temporaryDirectory } from '../support/directory.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const { executable } = (await import(join(project, 'bench/support/executable.mjs'))) as { executable?: object };
const { GOALS } = (await import(join(project, 'bench/support/goals.mjs'))) as { GOALS: Record<string, object> };
/** The measurements that take longest also at their smallest size. Only a soak tries them. */
const LONG = new Set(['archive', 'files', 'follow', 'logs', 'prepare', 'start-up', 'transfer']);
const MEASUREMENTS = readdirSync(join(project, 'bench'))
  .filter((name) => name.endsWith('.mjs'))
  .map((name) => name.replace('.mjs', ''))
  .filter((name) => name !== 'all' && (name !== 'executable' || executable !== undefined));

/** Returns the names and texts of the files in a directory. */
function filesIn(directory: string): Record<string, string> {
  return Object.fromEntries(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), 'utf8')]));
}

/** What was measured, by name. */
const measured = new Map<string, ReturnType<typeof bench>>();

/** Measures once, at the smallest size. */
function measure(name: string): ReturnType<typeof bench> {
  const result = measured.get(name) ?? bench(name, '--smallest');
  measured.set(name, result);
  return result;
}

/** Runs `npm run bench` with arguments, without the build before it. */
function bench(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, ['bench/all.mjs', ...args], { cwd: project, encoding: 'utf8' });
}

function run(...args: string[]): { status: number | null; stderr: string } {
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8' });
  return { status, stderr };
}

it.each(MEASUREMENTS.filter((name) => IS_SOAK || !LONG.has(name)))(
  'npm run bench %s works, at its smallest size',
  (name) => {
    const { status, stdout, stderr } = measure(name);
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/\d/);
    expect(stdout).not.toMatch(/NaN|undefined/);
    if (stdout.includes(': skipped, since ')) return;
    const missing = Object.keys(GOALS[name] ?? {}).filter((figure) => !stdout.includes(`\n  ${figure}  `));
    expect(missing, 'goals without a figure').toEqual([]);
  },
);

it('npm run bench has a measurement for each goal', () => {
  expect(readdirSync(join(project, 'bench'))).toEqual(
    expect.arrayContaining(Object.keys(GOALS).map((name) => `${name}.mjs`)),
  );
});

it('npm run bench says how many files three commands run', () => {
  const counted = measure('reach').stdout.match(/^ {2}svc .* \d+(\.\d)? files$/gm) ?? [];
  expect(counted.map((line) => line.trim().replace(/ {2}.*/, ''))).toEqual([
    'svc logs --entity-type card',
    'svc au submit tokens.csv --wait',
    'svc au refresh tokens.csv --cycle 2026-12 --fail-on err=50%',
  ]);
});

it('npm run bench names the measurements when it is given another name', () => {
  const { status, stderr } = bench('speed');
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: expect.stringMatching(/^no measurement is named speed; .*/),
  });
  for (const name of MEASUREMENTS) expect(stderr).toContain(name);
});

it('npm run pictures draws every picture of README as it is there', () => {
  const directory = temporaryDirectory();
  expect(run('build/pictures.mjs', directory)).toEqual({ status: 0, stderr: '' });
  expect(filesIn(directory), 'run `npm run pictures`').toEqual(filesIn(join(project, 'docs/pictures')));
});

it('npm run release packs the npm package with its bill of materials', () => {
  const directory = temporaryDirectory();
  expect(run('build/release/package.mjs', '--out', directory)).toEqual({ status: 0, stderr: '' });
  const name = `svc-cli-${manifest.version}`;
  expect(readdirSync(directory)).toEqual(['SHA256SUMS', 'THIRD-PARTY-NOTICES.txt', `${name}.cdx.json`, `${name}.tgz`]);
});

it('the groups of the bundler are what help, TAB, a local command and requests load', async () => {
  const { loadedTogether } = (await import(join(project, 'build/loaded-together.mjs'))) as {
    loadedTogether: () => Promise<Readonly<Record<string, readonly string[]>>>;
  };
  expect(await loadedTogether(), 'run `npm run groups`').toEqual(groups);
});

it('svc --version loads no file of the program but its entry', () => {
  const entry = join(project, 'dist/cli/svc.cjs');
  const script = `process.on('exit', () => console.log(Object.keys(require.cache).join('\\n'))); require(${JSON.stringify(entry)})`;
  const { stdout } = spawnSync(process.execPath, ['--eval', script, 'svc', '--version'], { encoding: 'utf8' });
  const [version, ...loaded] = stdout.trim().split('\n');
  expect([version, loaded.filter((path) => !path.includes('rolldown-runtime'))]).toEqual([manifest.version, [entry]]);
});
