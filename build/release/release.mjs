// Helpers of the scripts that make packages: paths, the time of packages, and checksums.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };

export const project = fileURLToPath(new URL('../..', import.meta.url));
export const built = join(project, 'dist/cli');
export const cache = join(project, '.cache/release');

/** Returns the time that goes into packages: that of the commit, so that one commit always gives the same bytes. */
export function sourceDate() {
  return process.env.SOURCE_DATE_EPOCH ?? run('git', ['log', '-1', '--format=%ct']).trim();
}

/**
 * Packs a directory reproducibly: with sorted names, without owners, and with the time of the commit. The name of the
 * archive says how it is compressed: .tar.gz or .tar.xz.
 */
export function packDirectory(archive, directory) {
  // Other systems' tar lacks these options; the packed files are equal, but the archive's bytes may differ.
  const same = [
    '--format=ustar',
    '--sort=name',
    `--mtime=@${sourceDate()}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
  ];
  const options = process.platform === 'linux' ? same : [];
  const compression = archive.endsWith('.xz') ? '-J' : '-z';
  run('tar', [...options, compression, '-cf', archive, '-C', dirname(directory), basename(directory)], {
    // Several threads would make other bytes.
    env: { ...process.env, XZ_OPT: '-9 --threads=1' },
  });
}

/** Writes SHA256SUMS for the released files of this version in a directory, as `sha256sum --check` reads it. */
export function writeSums(directory) {
  const ofThisVersion = new RegExp(
    `[-_]${manifest.version.replaceAll('.', '[.]')}[-_.].*(tgz|tar[.][gx]z|deb|cdx[.]json)$`,
  );
  const names = readdirSync(directory).filter((name) => ofThisVersion.test(name));
  const lines = names.toSorted().map((name) => {
    const sum = createHash('sha256')
      .update(readFileSync(join(directory, name)))
      .digest('hex');
    return `${sum}  ${name}\n`;
  });
  writeFileSync(join(directory, 'SHA256SUMS'), lines.join(''));
}

/** Runs a program and shows only its errors. @returns what it printed */
export function run(command, args, options = {}) {
  return execFileSync(command, args, {
    cwd: project,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    ...options,
  });
}
