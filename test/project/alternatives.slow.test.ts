import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, lstatSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { readFileSync, readlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/directory.ts';

const scripts = fileURLToPath(new URL('../../build/release/debian/', import.meta.url));
const scratch = temporaryDirectory();
const hasDpkg = ['dpkg', 'dpkg-deb', 'update-alternatives'].every(
  (program) => spawnSync(program, ['--version']).status === 0,
);
let root = '';

/** Packs a Debian package with one program and perhaps the scripts of ours. */
function pack(name: string, program: string, names: readonly string[] = []): void {
  const tree = join(scratch, name);
  mkdirSync(join(tree, 'DEBIAN'), { recursive: true });
  mkdirSync(dirname(join(tree, program)), { recursive: true });
  writeFileSync(join(tree, program), `#!/bin/sh\necho ${name}\n`);
  chmodSync(join(tree, program), 0o755);
  for (const script of names) copyFileSync(join(scripts, script), join(tree, 'DEBIAN', script));
  for (const script of names) chmodSync(join(tree, 'DEBIAN', script), 0o755);
  const control = ['Package', name, 'Version', '1', 'Architecture', 'all', 'Maintainer', 'M <m@example.com>'];
  const lines = control.flatMap((text, at) => (at % 2 === 0 ? [`${text}: ${control[at + 1] ?? ''}`] : []));
  writeFileSync(join(tree, 'DEBIAN/control'), `${lines.join('\n')}\nDescription: a test\n`);
  must('dpkg-deb', '--root-owner-group', '--build', tree, `${tree}.deb`);
}

function must(command: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  expect({ command, args, status, stderr: status === 0 ? '' : stderr }).toMatchObject({ status: 0 });
}

function dpkg(...args: string[]): void {
  must('dpkg', `--root=${root}`, '--force-not-root', '--force-script-chrootless', ...args);
}

/** Returns what /usr/bin/svc is: a link of ours, the program of another package, or nothing. */
function shortName(): string {
  const file = join(root, 'usr/bin/svc');
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return 'nothing';
  if (!stat.isSymbolicLink()) return readFileSync(file, 'utf8').split('echo ')[1]?.trim() ?? '';
  return `${readlinkSync(file)} -> ${readlinkSync(join(root, readlinkSync(file)))}`;
}

const OURS = '/etc/alternatives/svc -> /usr/bin/svc-cli';

describe.skipIf(!hasDpkg)('the short name in the Debian package (needs dpkg)', () => {
  beforeAll(() => {
    pack('svc-cli', 'usr/bin/svc-cli', ['postinst', 'prerm']);
    pack('daemontools', 'usr/bin/svc');
  });
  beforeEach(() => {
    root = mkdtempSync(join(scratch, 'root-'));
    for (const each of ['info', 'updates', 'alternatives', 'triggers'])
      mkdirSync(join(root, 'var/lib/dpkg', each), { recursive: true });
    writeFileSync(join(root, 'var/lib/dpkg/status'), '');
    for (const each of ['etc/alternatives', 'var/log']) mkdirSync(join(root, each), { recursive: true });
  });

  it('the short name is an alternative for svc-cli, and is gone when the package is removed', () => {
    dpkg('--install', join(scratch, 'svc-cli.deb'));
    expect(shortName()).toBe(OURS);
    dpkg('--remove', 'svc-cli');
    expect(shortName()).toBe('nothing');
  });

  it('the short name stays that of daemontools where it was installed first, also after a removal', () => {
    dpkg('--install', join(scratch, 'daemontools.deb'));
    dpkg('--install', join(scratch, 'svc-cli.deb'));
    expect(shortName()).toBe('daemontools');
    expect(existsSync(join(root, 'usr/bin/svc-cli'))).toBe(true);
    dpkg('--remove', 'svc-cli');
    expect(shortName()).toBe('daemontools');
  });

  it('the short name becomes that of daemontools when it is installed later, and stays so after a removal', () => {
    dpkg('--install', join(scratch, 'svc-cli.deb'));
    dpkg('--install', join(scratch, 'daemontools.deb'));
    expect(shortName()).toBe('daemontools');
    dpkg('--remove', 'svc-cli');
    expect(shortName()).toBe('daemontools');
  });

  it('the short name survives an upgrade of the package', () => {
    dpkg('--install', join(scratch, 'svc-cli.deb'));
    dpkg('--install', join(scratch, 'svc-cli.deb'));
    expect(shortName()).toBe(OURS);
  });
});
