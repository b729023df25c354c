import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../src/', import.meta.url));

/** The folders of tests without a source file: tests of what users do, of every command, of the repository and its tools. */
const TESTS_OF_THE_WHOLE = /^(browser|e2e|fuzz|mutants|project|simulator|sweeps)\//;

it('the tests have the name of the source file that they test, and perhaps that of an aspect of it', () => {
  const below = listFiles(fileURLToPath(new URL('../', import.meta.url)));
  const tests = below.filter((file) => file.endsWith('.test.ts'));
  // A fake that many tests rely on has tests, too.
  const fakes = below.filter((file) => file.startsWith('support/'));
  const files = new Set([...listFiles(root), ...fakes].map((file) => file.replace(/\.\w+$/, '')));
  const strays = tests.filter((test) => {
    // `client/http/retry.retry-after.test.ts` tests `client/http/retry.ts`.
    const subject = test.replace(/([^/.]+)\.[^/]*$/, '$1');
    return !TESTS_OF_THE_WHOLE.test(test) && !files.has(subject);
  });
  expect(tests.length).toBeGreaterThan(200);
  expect(strays).toEqual([]);
});

function listFiles(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}
