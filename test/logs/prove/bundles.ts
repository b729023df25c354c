import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { succeeded, svcHere } from '../../support/run-here.ts';
import type { Tampering } from '../archive/tampers.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const [STATEMENT, SUMS] = ['evidence.json', 'SHA256SUMS'];

/** Repairs the list of sums. */
export function forgeSums(it: Tampering): void {
  const listed = execFileSync('find', ['.', '-type', 'f', '!', '-name', SUMS, '-exec', 'sha256sum', '{}', '+'], {
    cwd: it.top,
    encoding: 'utf8',
  });
  it.write(SUMS, listed.replaceAll('  ./', '  '));
}

/** Resolves to an unpacked bundle, and both hashes that its script accepts. */
export async function bundleOf({ top }: { readonly top: string }) {
  const cwd = temporaryDirectory();
  const run = succeeded(await svcHere(['logs', 'evidence', top, '--out', 'e.tar.gz', '-o', 'json'], { cwd }));
  execFileSync('tar', ['-xzf', 'e.tar.gz'], { cwd });
  const { sums_sha256: sums, sha256: record } = JSON.parse(run.stdout) as Record<'sums_sha256' | 'sha256', string>;
  return { top: path.join(cwd, 'evidence'), sums, record };
}

/** A shell that runs the script: the words before its path, and the environment. */
export interface Shell {
  readonly words: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export function check({ words: [command = '', ...words], env }: Shell, top: string, ...hash: string[]) {
  const { status, stdout, stderr } = spawnSync(command, [...words, path.join(top, 'verify.sh'), ...hash], {
    encoding: 'utf8',
    env,
  });
  return { status, stdout, stderr };
}

export const POSIX: Shell = { words: ['sh'], env: process.env };

export function outcomeOf({ status, stdout, stderr }: ReturnType<typeof check>, honest: string): string {
  if (status === 1 && stdout === '' && stderr.includes('FAILED: ')) return 'found';
  if (status !== 0) return `exit code ${status}: ${stderr}`;
  return stdout === honest ? 'not proven' : 'said';
}

export function restate(it: Tampering, change: (statement: Record<string, unknown>) => object): void {
  const said = JSON.parse(fs.readFileSync(it.at(STATEMENT), 'utf8')) as Record<string, unknown>;
  it.write(STATEMENT, `${JSON.stringify({ ...said, ...change(said) }, undefined, 2)}\n`);
}

/** The shells in which the script must work, if they are installed. */
export const SHELLS = [
  ['dash', 'dash'],
  ['bash', 'bash'],
  ['busybox', 'busybox'],
  ['zsh', 'zsh'],
] as const;

/** Further shells, and programs that may be awk, in which a few tampers are tried. */
export const FURTHER_SHELLS = ['ksh', 'mksh', 'posh', 'yash'] as const;
export const AWKS = ['gawk', 'mawk', 'original-awk'] as const;

export function shellOf(command: string): Shell {
  return command === 'busybox' ? busybox() : { words: [command], env: process.env };
}

/** Returns the shell of the system, which finds this program as awk. */
export function shellWithAwk(program: string): Shell {
  const first = temporaryDirectory();
  const found = execFileSync('sh', ['-c', 'command -v "$0"', program], { encoding: 'utf8' }).trim();
  fs.symlinkSync(found, path.join(first, 'awk'));
  return { words: ['sh'], env: { ...process.env, PATH: `${first}:${process.env['PATH']}` } };
}

/** Returns a busybox shell that finds no programs except those of busybox. */
function busybox(): Shell {
  const programs = temporaryDirectory();
  const program = execFileSync('sh', ['-c', 'command -v busybox'], { encoding: 'utf8' }).trim();
  for (const name of ['sh', 'awk', 'dirname', 'find', 'gzip', 'sed', 'sha256sum', 'tr', 'wc'])
    fs.symlinkSync(program, path.join(programs, name));
  return { words: [program, 'sh'], env: { PATH: programs } };
}
