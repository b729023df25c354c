import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readSourceFiles } from '../support/source-file.ts';

/**
 * What keeps `src` a code base that one person can hold in mind.
 */
const MOST_FILES = 301;
const MOST_LINES = 46_050;
const MEDIAN_LINES = [90, 150] as const;
const SHORT_LINES = 30;
const MOST_SHORT_FILES = 10;
const LONG_LINES = 320;
const MOST_LONG_FILES = 2;

const root = fileURLToPath(new URL('../../src/', import.meta.url));

describe('the grain of src/', () => {
  const lengths = fileLengths();
  const lines = [...lengths.values()].toSorted((a, b) => a - b);

  it('is about 300 files of 80 to 250 lines', () => {
    expect(lines.length).toBeLessThanOrEqual(MOST_FILES);
    expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(MOST_LINES);
    const median = lines[Math.floor(lines.length / 2)];
    expect(median).toBeGreaterThanOrEqual(MEDIAN_LINES[0]);
    expect(median).toBeLessThanOrEqual(MEDIAN_LINES[1]);
  });

  it('has few files that are crumbs, and few that are several things', () => {
    const short = [...lengths].filter(([, count]) => count < SHORT_LINES).map(([file]) => file);
    const long = [...lengths].filter(([, count]) => count > LONG_LINES).map(([file]) => file);
    expect(short.slice(MOST_SHORT_FILES)).toEqual([]);
    expect(long.slice(MOST_LONG_FILES)).toEqual([]);
  });
});

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

function fileLengths(): Map<string, number> {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  return new Map(files.map((file) => [file, readFileSync(path.join(root, file), 'utf8').split('\n').length - 1]));
}
