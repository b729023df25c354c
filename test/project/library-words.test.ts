import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { nodesOf } from '../support/syntax.ts';

/** The folders that a program can use without a command line. */
const LIBRARY = 'client base schema'.split(' ');

/** A pattern for a command of svc, or an option inside a sentence. An option alone is a word of a next command. */
const ADVICE = /['`"]svc [a-z3-]|\bsvc (?:au|logs|3ds|tenant|login|events|api|help) |[^\w=-]--(?!debug\b)[a-z]/;

/** Files with style sheets, in which two hyphens do not begin an option. */
const NOT_WORDS = new Set(['au/results/report-page.ts']);

const root = fileURLToPath(new URL('../../src/', import.meta.url));

it.each(LIBRARY)('the texts of the library in %s name no command and no option', (folder) => {
  const files = readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => path.posix.join(folder, file))
    .filter((file) => !NOT_WORDS.has(file));
  expect(files.flatMap(adviceIn)).toEqual([]);
});

it('the texts of the library are found when they do', () => {
  const code = "throw new SvcError('usage', 'x', { hint: `Add --force, or run 'svc au jobs'.` });";
  expect(textsOf('x.ts', code).filter((text) => ADVICE.test(text))).toHaveLength(1);
  expect(textsOf('x.ts', "next: ['au', 'jobs', '--all']").filter((text) => ADVICE.test(text))).toEqual([]);
});

function adviceIn(file: string): string[] {
  const code = readFileSync(path.join(root, file), 'utf8');
  const texts = ADVICE.test(code) ? textsOf(file, code) : [];
  return texts.filter((text) => ADVICE.test(text)).map((text) => `${file}: ${text}`);
}

function textsOf(file: string, code: string): string[] {
  return nodesOf(file, code).flatMap((node) => {
    if (node['type'] === 'Literal' && typeof node['value'] === 'string') return [node['value']];
    const template = node['type'] === 'TemplateElement' ? node['value'] : undefined;
    return typeof template === 'object' && template !== null && 'raw' in template ? [String(template.raw)] : [];
  });
}
