// Finds the changes that the type checker rejects, with one run of it for all of them.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the changes that the type checker rejects in the project in `directory`. Each change stands in a copy of its file
 * beside the original, where its imports still work. A copy can have errors without a change, such as a class that
 * is no longer the same as the original, so that only errors that an unchanged copy lacks count.
 */
export function rejectedByTypes(directory, changes) {
  const copies = [];
  for (const path of new Set(changes.map((change) => change.path))) {
    const text = readFileSync(join(directory, path), 'utf8');
    addCopy(path, 0, text);
    for (const { number, start, end, to } of changes.filter((change) => change.path === path))
      addCopy(path, number, text.slice(0, start) + to + text.slice(end));
  }
  const errors = typeErrors(directory, copies);
  for (const copy of copies) rmSync(join(directory, copy));
  return changes.filter(({ path, number }) => {
    const usual = errors.get(copyOf(path, 0)) ?? [];
    return (errors.get(copyOf(path, number)) ?? []).some((error) => !usual.includes(error));
  });

  function addCopy(path, number, text) {
    copies.push(copyOf(path, number));
    writeFileSync(join(directory, copyOf(path, number)), text);
  }
}

function copyOf(path, number) {
  return path.replace(/\.ts$/, `.mutant-${number}.ts`);
}

/** Returns the errors in each of some files, without the numbers of lines and copies. */
function typeErrors(directory, files) {
  const config = join(directory, 'tsconfig.mutants.json');
  writeFileSync(config, JSON.stringify({ extends: './tsconfig.json', include: ['src/**/*.d.ts', ...files] }));
  const options = ['node_modules/typescript/bin/tsc', '--noEmit', '--pretty', 'false', '--project', config];
  const { status, stdout, stderr } = spawnSync(process.execPath, options, { cwd: directory, encoding: 'utf8' });
  const errors = new Map();
  for (const [, file, error] of stdout.matchAll(/^(\S+?)\(\d+,\d+\): (error .*)$/gm))
    errors.set(file, [...(errors.get(file) ?? []), error.replaceAll(/\.mutant-\d+/g, '')]);
  if (status !== 0 && errors.size === 0) throw new Error(`the type checker failed: ${stdout}${stderr}`);
  return errors;
}
