import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../support/directory.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const scratch = temporaryDirectory();

/** The files and folders that a build reads. */
const SOURCES = ['bin', 'build', 'completions', 'docs', 'src', 'CHANGELOG.md', 'LICENSE', 'README.md'];
const SETTINGS = readdirSync(project).filter((name) => /^(package|tsconfig).*\.json$|\.config\.ts$/.test(name));

it('two builds in two places, and their packages, are the same to the last byte', () => {
  const [first, second] = ['first', 'another'].map((name) => build(join(scratch, name)));
  expect(Object.keys(second!.files).length).toBeGreaterThan(100);
  expect(second).toEqual(first);
});

function build(directory: string): { files: Record<string, string>; packed: string } {
  for (const name of [...SOURCES, ...SETTINGS]) cpSync(join(project, name), join(directory, name), { recursive: true });
  // Both builds are at the same depth, so that their relative paths to the linked packages are equal.
  symlinkSync(join(project, 'node_modules'), join(directory, 'node_modules'));
  must(directory, 'npm', ['run', '--silent', 'build']);
  const told: unknown = JSON.parse(must(directory, 'npm', ['pack', '--json', '--ignore-scripts']));
  const { integrity } = Object.values(told as Record<string, { integrity: string }>)[0]!;
  return { files: filesIn(join(directory, 'dist')), packed: integrity };
}

function filesIn(directory: string): Record<string, string> {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).toSorted();
  const files = names.filter((name) => statSync(join(directory, name)).isFile());
  const sumOf = (name: string): string =>
    createHash('sha256')
      .update(readFileSync(join(directory, name)))
      .digest('hex');
  return Object.fromEntries(files.map((name) => [name, sumOf(name)]));
}

function must(cwd: string, command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw error ?? new Error(`${command} ${args.join(' ')} ended with ${String(status)}: ${stderr}`);
  return stdout;
}
