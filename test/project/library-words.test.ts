import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readSourceFiles } from '../support/source-file.ts';
import { nodesOf } from '../support/syntax.ts';

/** The folders that a program can use without a command line. It loads others through the library's entry. */
const LIBRARY = /^(?:client|base|schema)\//;

/** A pattern for a command of svc, or an option inside a sentence. An option alone is a word of a next command. */
const ADVICE = /['`"]svc [a-z3-]|\bsvc (?:au|logs|3ds|tenant|login|events|api|help) |[^\w=-]--(?!debug\b)[a-z]/;

const root = fileURLToPath(new URL('../../src/', import.meta.url));
const sources = readSourceFiles(root);

it('the texts of the library name no command and no option', () => {
  const loaded = loadedBy('index.ts');
  const files = sources.map((file) => file.path).filter((file) => LIBRARY.test(file) || loaded.has(file));
  expect(loaded).toContain('logs/entry.ts');
  expect(files.flatMap(adviceIn)).toEqual([]);
});

it('the texts of the library are found when they do', () => {
  const code = "throw new SvcError('usage', 'x', { hint: `Add --force, or run 'svc au jobs'.` });";
  expect(textsOf('x.ts', code).filter((text) => ADVICE.test(text))).toHaveLength(1);
  expect(textsOf('x.ts', "next: ['au', 'jobs', '--all']").filter((text) => ADVICE.test(text))).toEqual([]);
});

/** Returns a file and all that it imports, also when it runs. */
function loadedBy(entry: string): Set<string> {
  const loaded = new Set([entry]);
  // A set yields what is added while it is read.
  for (const file of loaded)
    for (const { target, kind } of sources.find((source) => source.path === file)?.imports ?? [])
      if (target !== undefined && kind !== 'type') loaded.add(target);
  return loaded;
}

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
