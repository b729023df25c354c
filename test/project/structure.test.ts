import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readSourceFiles } from '../support/source-file.ts';

const root = fileURLToPath(new URL('../../src/', import.meta.url));

describe('the imports of src/', () => {
  it('run in no circle, types included', () => {
    const files = readSourceFiles(root).map(({ path: file, imports }) => ({
      file,
      // What loads when it runs may lead back.
      targets: imports.flatMap(({ target, kind }) => (target === undefined || kind === 'dynamic' ? [] : [target])),
    }));
    let left = files;
    let before = 0;
    while (left.length !== before) {
      before = left.length;
      const names = new Set(left.map(({ file }) => file));
      const imported = new Set(left.flatMap(({ targets }) => targets));
      left = left.filter(({ file, targets }) => imported.has(file) && targets.some((target) => names.has(target)));
    }
    expect(left.map(({ file }) => file)).toEqual([]);
  });
});
