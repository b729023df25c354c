import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readBlocks } from '../support/readme-blocks.ts';

const root = new URL('../../', import.meta.url);

const examples = readBlocks(readFileSync(new URL('CONTRIBUTING.md', root), 'utf8')).filter(
  ({ language }) => language === 'ts',
);

it.each(examples)('CONTRIBUTING.md shows code that is in its file, from line $line', ({ text }) => {
  const [, path = '', code = ''] = /^\/\/ (\S+)\n(.*)$/s.exec(text) ?? [];
  const file = readFileSync(fileURLToPath(new URL(path, root)), 'utf8');
  expect(code.length).toBeGreaterThan(100);
  expect(file).toContain(code);
});

it('CONTRIBUTING.md shows a command and a test', () => {
  expect(examples).toHaveLength(2);
});
