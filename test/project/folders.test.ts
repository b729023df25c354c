import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseSourceFile, readSourceFiles, type SourceFile } from '../support/source-file.ts';

/** What stands in one folder, files and folders, each with those beside it that it imports. */
type Neighbors = Map<string, Set<string>>;

/** Returns the circles of src/: of what stands side by side in a folder, one whose imports lead back to itself. */
function circles(files: readonly SourceFile[]): string[] {
  return [...neighborsByFolder(files)].flatMap(([folder, neighbors]) => {
    const known = new Set<string>();
    return [...neighbors.keys()].flatMap((name) => {
      const circle = known.has(name) ? undefined : wayBack(neighbors, name);
      for (const member of circle ?? []) known.add(member);
      return circle === undefined ? [] : [`${folder}: ${[...circle, name].join(' → ')}`];
    });
  });
}

function neighborsByFolder(files: readonly SourceFile[]): Map<string, Neighbors> {
  const folders = new Map<string, Neighbors>();
  for (const { path, imports } of files) {
    for (const { target } of imports) {
      if (target === undefined) continue;
      const { folder, from, to } = whereTheyPart(path, target);
      const neighbors = folders.get(folder) ?? new Map<string, Set<string>>();
      folders.set(folder, neighbors.set(from, (neighbors.get(from) ?? new Set()).add(to)));
    }
  }
  return folders;
}

/** Returns the innermost folder that contains both files, and the names in it that lead to each. */
function whereTheyPart(path: string, target: string) {
  const [one, other] = [path.split('/'), target.split('/')];
  const depth = one.findIndex((name, at) => name !== other[at]);
  return { folder: ['src', ...one.slice(0, depth)].join('/'), from: one[depth] ?? '', to: other[depth] ?? '' };
}

/** Finds the shortest way from a name back to itself; undefined if there is none. */
function wayBack(neighbors: Neighbors, start: string): string[] | undefined {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const name of queue) {
    for (const next of neighbors.get(name) ?? []) {
      if (next === start) return wayTo(name, cameFrom);
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, name);
      queue.push(next);
    }
  }
  return undefined;
}

function wayTo(name: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const before = cameFrom.get(name);
  return before === undefined ? [name] : [...wayTo(before, cameFrom), name];
}

function sources(texts: Readonly<Record<string, string>>): SourceFile[] {
  return Object.entries(texts).map(([path, text]) => parseSourceFile(path, text));
}

describe('the folders of src/', () => {
  it('what stands side by side in a folder of src/ imports one another in no circle, types and dynamic imports included', () => {
    const files = readSourceFiles(fileURLToPath(new URL('../../src/', import.meta.url)));
    expect(files.length).toBeGreaterThan(400);
    expect(circles(files)).toEqual([]);
  });

  it.each([
    ['values', `import { b } from '../b/x.ts'`, `import { a } from '../a/y.ts'`],
    ['types', `import type { B } from '../b/x.ts'`, `export type { A } from '../a/y.ts'`],
    ['dynamic imports', `await import('../b/x.ts')`, `type A = import('../a/y.ts').A`],
  ])('two folders that import one another are a circle: %s', (_, one, other) => {
    expect(circles(sources({ 'au/a/x.ts': one, 'au/b/y.ts': other }))).toEqual(['src/au: a → b → a']);
  });

  it('a folder that imports a file above it, which imports the folder, is a circle', () => {
    const files = sources({
      'au/all.ts': `import './a/x.ts'`,
      'au/a/y.ts': `import '../b/z.ts'`,
      'au/b/z.ts': `import '../all.ts'`,
    });
    expect(circles(files)).toEqual(['src/au: all.ts → a → b → all.ts']);
  });

  it('a file may compose folders that share another file', () => {
    const files = sources({
      'au/all.ts': `import './a/x.ts'; import './b/x.ts'`,
      'au/a/x.ts': `import '../common.ts'; import '../b/x.ts'`,
      'au/b/x.ts': `import '../common.ts'`,
    });
    expect(circles(files)).toEqual([]);
  });
});
