// What goes into a standalone executable: the built files, and what V8 compiled of them.
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { built, project, run } from './release.mjs';

/**
 * Names of assets and their files. A cache fits the platform and the version of Node that made it: for others, leave the
 * caches out.
 */
export function makeAssets(node, scratch) {
  const caches = join(scratch, 'caches');
  mkdirSync(caches);
  run(node, ['--random-seed=1', join(project, '.release/compile.cjs'), built, caches]);
  return { files: filesIn(built), caches: filesIn(caches) };
}

function filesIn(directory) {
  const names = readdirSync(directory).filter((name) => /\.cjs(\.cache)?$/.test(name));
  return Object.fromEntries(names.map((name) => [name, join(directory, name)]));
}
