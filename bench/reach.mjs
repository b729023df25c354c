// Counts the files of src that a command runs: `npm run bench:reach`. A file counts if one of its functions ran. The
// bundle is built again with one file per module, so that V8's coverage can distinguish the modules.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { loadConfig } from 'rolldown/config';
import { plainEnvironment, report } from './support/measure.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const place = mkdtempSync(join(tmpdir(), 'svc-reach-'));
const modules = join(place, 'dist');
const listed = process.argv.includes('--list');

const commands = ['svc logs --entity-type card', 'svc au submit tokens.csv --wait'];

try {
  await build();
  const cards = svc(['sandbox', 'cards', '--request']).stdout;
  writeFileSync(join(place, 'tokens.csv'), cards);
  const rows = commands.map((name) => {
    const files = filesRun(name.split(' ').slice(1));
    if (listed) process.stdout.write(`${name}\n  ${files.join('\n  ')}\n`);
    return { name, figure: files.length, unit: 'files' };
  });
  report('files of src that run a function', rows);
} finally {
  rmSync(place, { recursive: true, force: true });
}

async function build() {
  const [{ output, ...input }] = [await loadConfig(join(root, 'rolldown.config.ts'))].flat();
  const bundle = await rolldown({ ...input, cwd: root });
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

/** Runs a command. Given a directory for its coverage, runs it through `svc sandbox exec`, which provides a service. */
function svc(argv, coverage) {
  const program = [process.execPath, join(modules, 'svc.mjs')];
  const line =
    coverage === undefined
      ? [...program, ...argv]
      : [...program, 'sandbox', 'exec', '--', 'env', `NODE_V8_COVERAGE=${coverage}`, ...program, ...argv];
  const [command, ...rest] = line;
  const result = spawnSync(command, rest, { cwd: place, env: plainEnvironment(place), encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`svc ${argv.join(' ')} ended with ${result.status}: ${result.stderr}`);
  return result;
}

/** @param {readonly string[]} argv */
function filesRun(argv) {
  const directory = mkdtempSync(join(place, 'coverage-'));
  svc(argv, directory);
  const scripts = readdirSync(directory).flatMap(
    (file) => JSON.parse(readFileSync(join(directory, file), 'utf8')).result,
  );
  const prefix = new URL(`file://${modules}/`).href;
  return scripts
    .filter(({ url, functions }) => url.startsWith(prefix) && functions.some(isRun))
    .map(({ url }) => url.slice(prefix.length).replace(/\.mjs$/, '.ts'))
    .filter((path) => !path.includes('node_modules') && !path.startsWith('_'))
    .toSorted();
}

/** Tells whether a function ran. The module itself, which runs when it is loaded, does not count. */
function isRun({ functionName, ranges: [first] }) {
  return first.count > 0 && !(functionName === '' && first.startOffset === 0);
}
