// Sorts test files by their distance to the source files that they could test.
import { basename, dirname } from 'node:path';

/** Returns test files, the nearest to any of the changes first. */
export function nearestFirst(tests, compiling) {
  const paths = [...new Set(compiling.map(({ path }) => path))];
  const distances = new Map(tests.map((test) => [test, Math.min(...paths.map((path) => distance(test, path)))]));
  return tests.toSorted((one, other) => distances.get(one) - distances.get(other) || (one < other ? -1 : 1));
}

/** Returns 0 for a test named after the source file, otherwise 1 more than the steps between their directories. */
function distance(test, path) {
  const [testFolders, folders] = [test, path].map((file) => dirname(file).split('/').slice(1));
  const firstOther = testFolders.findIndex((name, at) => name !== folders[at]);
  const common = firstOther === -1 ? testFolders.length : firstOther;
  const steps = testFolders.length + folders.length - 2 * common;
  return steps === 0 && basename(test).split('.')[0] === basename(path, '.ts') ? 0 : steps + 1;
}
