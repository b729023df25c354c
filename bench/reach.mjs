// Counts the files of src that a command runs, and how often it waits for the disk. A file counts if one of its functions ran.
// The files have no goal; the message of the commit that raises their number says why. The bundle is built again with one file per module, so that V8's coverage
// can distinguish the modules.
//   npm run bench reach [-- --list]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { loadConfig } from 'rolldown/config';
import { plainEnvironment, report } from './support/measure.mjs';

const SYNCS = fileURLToPath(new URL('support/syncs.cjs', import.meta.url));
const root = fileURLToPath(new URL('..', import.meta.url));
const place = mkdtempSync(join(tmpdir(), 'svc-reach-'));
const modules = join(place, 'dist');
const program = join(modules, 'svc.mjs');
const listed = process.argv.includes('--list');

const commands = [
  'svc logs --entity-type card',
  'svc au submit tokens.csv --wait',
  'svc au refresh tokens.csv --cycle 2026-12 --fail-on err=50%',
];

try {
  await build();
  const rows = commands.flatMap((name) => {
    const { files, syncs } = run(name.split(' ').slice(1));
    if (listed) process.stdout.write(`${name}\n  ${files.join('\n  ')}\n`);
    return [
      { name, figure: files.length, unit: 'files' },
      { name: `${name}: syncs`, figure: syncs, unit: 'syncs' },
    ];
  });
  report('reach', 'files of src that run a function, and waits for the disk', rows);
} finally {
  rmSync(place, { recursive: true, force: true });
}

async function build() {
  const [{ output, ...input }] = [await loadConfig(join(root, 'build/rolldown.config.ts'))].flat();
  // The plugin rewrites chunks that require others; these import them.
  const plugins = input.plugins.filter(({ name }) => name !== 'lazy-modules');
  const bundle = await rolldown({ ...input, plugins, cwd: root });
  const perModule = { preserveModules: true, preserveModulesRoot: join(root, 'src'), minify: false };
  await bundle.write({
    ...output,
    ...perModule,
    dir: modules,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name].mjs',
  });
  await bundle.close();
}

/** Runs a command in its home directory. Returns what it printed. */
function svc(home, argv) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...argv], {
    cwd: home,
    env: plainEnvironment(home),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`svc ${argv.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
}

/** @param {readonly string[]} argv */
function run(argv) {
  // A command that finds what another one did takes other ways.
  const home = mkdtempSync(join(place, 'home-'));
  const coverage = join(home, 'coverage');
  writeFileSync(join(home, 'tokens.csv'), svc(home, ['sandbox', 'cards', '--request']));
  const counted = join(home, 'syncs');
  const variables = [`NODE_V8_COVERAGE=${coverage}`, `SYNCS=${counted}`];
  const line = ['env', ...variables, process.execPath, '--require', SYNCS, program, ...argv];
  svc(home, ['sandbox', 'exec', '--', ...line]);
  const scripts = readdirSync(coverage).flatMap(
    (file) => JSON.parse(readFileSync(join(coverage, file), 'utf8')).result,
  );
  const prefix = new URL(`file://${modules}/`).href;
  const files = scripts
    .filter(({ url, functions }) => url.startsWith(prefix) && functions.some(isRun))
    .map(({ url }) => url.slice(prefix.length).replace(/\.mjs$/, '.ts'))
    .filter((path) => !path.includes('node_modules') && !path.startsWith('_'))
    .toSorted();
  return { files, syncs: Number(readFileSync(counted, 'utf8')) };
}

/** Tells whether a function ran. The module itself, which runs when it is loaded, does not count. */
function isRun({ functionName, ranges: [first] }) {
  return first.count > 0 && !(functionName === '' && first.startOffset === 0);
}
