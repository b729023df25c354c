// Makes a Debian package of the executable in .cache/release: npm run deb [-- [--out <dir>] [--level <0 to 9>]]
// --level is that of xz: 9 takes minutes, lower ones are for tests.
// Besides the program it contains the manual pages and the completions, where Debian's shells and man look for them.
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import manifest from '../../package.json' with { type: 'json' };
import { origin } from './origin.mjs';
import { cache, project, run, sourceDate, writeSums } from './release.mjs';

const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' };

const { values } = parseArgs({
  options: { out: { type: 'string', default: cache }, level: { type: 'string', default: '9' } },
});
const release = resolve(values.out);
const executable = join(release, `svc-${manifest.version}-linux-${process.arch}`);
const architecture = ARCHITECTURES[process.arch];

if (architecture === undefined || !existsSync(executable)) {
  console.error(`no executable for Debian here: run 'npm run executables' first, on Linux (${executable})`);
  process.exit(1);
}

/** The source of each file of the package, by its path there. A file whose path ends with .gz is compressed. */
const FILES = {
  // Debian's daemontools has a /usr/bin/svc: postinst makes the short name an alternative.
  'usr/bin/svc-cli': 'svc',
  ...Object.fromEntries(manPages().map((name) => [`usr/share/man/man${name.at(-1)}/${name}.gz`, `man/${name}`])),
  'usr/share/bash-completion/completions/svc': 'completions/svc.bash',
  'usr/share/zsh/vendor-completions/_svc': 'completions/_svc',
  'usr/share/fish/vendor_completions.d/svc.fish': 'completions/svc.fish',
  'changelog.gz': 'CHANGELOG.md',
  'THIRD-PARTY-NOTICES.txt.gz': 'THIRD-PARTY-NOTICES.txt',
  'NODE-LICENSE.txt.gz': 'NODE-LICENSE.txt',
  'sbom.cdx.json': 'sbom.cdx.json',
};

const tree = join(release, 'deb');
rmSync(tree, { recursive: true, force: true });
for (const [place, name] of Object.entries(FILES)) {
  const file = join(tree, place.includes('/') ? place : `usr/share/doc/${manifest.name}/${place}`);
  put(file, join(executable, name));
}
write(join(tree, `usr/share/doc/${manifest.name}/copyright`), copyright());
write(join(tree, 'DEBIAN/control'), control());
for (const script of ['postinst', 'prerm'])
  write(join(tree, 'DEBIAN', script), readFileSync(join(project, 'build/release/debian', script)), 0o755);

const archive = join(release, `${manifest.name}_${manifest.version}_${architecture}.deb`);
const options = ['--root-owner-group', '-Zxz', `-z${values.level}`, '--threads-max=1', '--build'];
run('dpkg-deb', [...options, tree, archive], { env: { ...process.env, SOURCE_DATE_EPOCH: sourceDate() } });
rmSync(tree, { recursive: true });
writeSums(release);
console.log(`${basename(archive)}  ${(statSync(archive).size / 1e6).toFixed(0)} MB`);

/** Returns the file names of the manual pages. The last character of a name is its section. */
function manPages() {
  return readdirSync(join(executable, 'man'));
}

function put(file, source) {
  if (file.endsWith('.gz')) return write(file, gzipSync(readFileSync(source), { level: 9 }));
  makeParents(file);
  copyFileSync(source, file);
  chmodSync(file, file.endsWith('/bin/svc-cli') ? 0o755 : 0o644);
}

function write(file, content, mode = 0o644) {
  makeParents(file);
  writeFileSync(file, content);
  chmodSync(file, mode);
}

/** Creates the parent directories of a file so that everybody can enter them, whatever the umask is here. */
function makeParents(file) {
  const directory = dirname(file);
  if (existsSync(directory)) return;
  makeParents(directory);
  mkdirSync(directory);
  chmodSync(directory, 0o755);
}

/** Returns the control file. It depends on the libraries that Node's own binary needs. */
function control() {
  const { homepage, maintainer } = origin();
  const kilobytes = Math.ceil(statSync(join(executable, 'svc')).size / 1024) + 400;
  return `Package: ${manifest.name}
Version: ${manifest.version}
Architecture: ${architecture}
Maintainer: ${maintainer ?? 'The svc authors <svc@localhost>'}
Installed-Size: ${kilobytes}
Depends: libc6 (>= 2.28), libatomic1, libgcc-s1, libstdc++6
Section: utils
Priority: optional
${homepage === undefined ? '' : `Homepage: ${homepage}\n`}Description: command line for the operators of a card-data vaulting service
 Account Updater jobs, audit logs, webhooks, 3-D Secure and tenants from a
 shell, with the service's sandbox inside. Node.js is part of the program.
`;
}

function copyright() {
  const terms = readFileSync(join(project, 'LICENSE'), 'utf8').trim();
  return `${terms}

Node.js and the packages inside the program have terms of their own: see
NODE-LICENSE.txt.gz and THIRD-PARTY-NOTICES.txt.gz beside this file.
`;
}
