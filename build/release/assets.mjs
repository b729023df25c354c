// The contents of a standalone executable: the built files, and the code that V8 compiled from them.
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { built, project, run } from './release.mjs';

/**
 * Makes the assets. Returns their files by name. A cache works only on the platform and with the version of Node that
 * made it, so executables for other platforms contain none.
 */
export function makeAssets(node, scratch) {
  const caches = join(scratch, 'caches');
  mkdirSync(caches);
  run(node, ['--random-seed=1', join(project, 'build/release/compile.cjs'), built, caches]);
  return { files: filesIn(built), caches: filesIn(caches) };
}

function filesIn(directory) {
  const names = readdirSync(directory).filter((name) => /\.cjs(\.cache)?$/.test(name));
  return Object.fromEntries(names.map((name) => [name, join(directory, name)]));
}
