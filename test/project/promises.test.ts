import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isNode, nodesOf, textOf, type Node } from '../support/syntax.ts';

/** The numbers of the promises to the operator. */
const PROMISES = numbers(1, 96);
const PAGE = fileURLToPath(new URL('promises.md', import.meta.url));
/** A row of the page: the number, the promise, what would break it, and how many tests prove it. */
const ROW = /^\| (R\d\d) \| (.*) \| (.*) \| \d* \|$/gm;

/** A promise as promises.md describes it. */
interface Row {
  readonly promise: string;
  readonly text: string;
  readonly failsWhen: string;
}

/** A test: its file below `test`, and its name or the beginning of its name. */
interface Proof {
  readonly file: string;
  readonly name: string;
}

const proofs = findProofs(fileURLToPath(new URL('../', import.meta.url)));
const page = readFileSync(PAGE, 'utf8');
const rows = rowsOf(page);

describe('the promises', () => {
  it('the promises are all written down, in order and once, with what would break them', () => {
    expect(rows.map(({ promise }) => promise)).toEqual(PROMISES);
    const unexplained = rows.filter((row) => !isExplained(row));
    expect(unexplained.map(({ promise }) => promise)).toEqual([]);
  });

  it('the promises have tests that begin with their number', () => {
    const unproven = rows.filter(({ promise }) => proofsOf(promise).length === 0);
    expect(unproven.map(({ promise }) => promise)).toEqual([]);
  });

  it('the promises include the number of every test', () => {
    const others = proofs.filter(({ name }) => promisesIn(name).some((promise) => !PROMISES.includes(promise)));
    expect(others).toEqual([]);
  });

  it('the page of promises counts their tests; vitest -u writes it', async () => {
    await expect(page.replaceAll(ROW, counted)).toMatchFileSnapshot(PAGE);
  });
});

it('the reading of promises takes tests by name in every way of writing them', () => {
  const text = `
      it('R01: the reading of promises keeps the key', () => {});
      test.each([1])(\`R02, R03 and R04 of \${x}\`, () => {});
      describe('R05 group', () => { it.concurrent("R06 R07: a colon", () => {}); });
      it.skip('R08: left out', () => {}); it.todo('R08 later'); // it('R09 in a comment')
      it('not R10 first', () => {}); expect('R11 is no test');`;
  const found = testsIn('some.test.ts', text).flatMap(({ name }) => promisesIn(name));
  expect(found).toEqual(['R01', 'R02', 'R03', 'R04', 'R06', 'R07']);
});

function numbers(first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => `R${String(first + index).padStart(2, '0')}`);
}

function rowsOf(text: string): Row[] {
  return Array.from(text.matchAll(ROW), ([, promise = '', words = '', failsWhen = '']) => ({
    promise,
    text: words,
    failsWhen,
  }));
}

function isExplained({ text, failsWhen }: Row): boolean {
  return /^\S.{20,}\.$/.test(text) && /^\S.{20,}[^.]$/.test(failsWhen);
}

function proofsOf(promise: string): Proof[] {
  return proofs.filter(({ name }) => promisesIn(name).includes(promise));
}

/** Returns the row of a promise with the number of its tests. */
function counted(_row: string, promise: string, text: string, failsWhen: string): string {
  return `| ${promise} | ${text} | ${failsWhen} | ${proofsOf(promise).length} |`;
}

/** Finds every test whose name begins with the number of a promise. */
function findProofs(directory: string): Proof[] {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.test.ts'),
  );
  return files.flatMap((path) => testsIn(path.replaceAll('\\', '/'), readFileSync(join(directory, path), 'utf8')));
}

function testsIn(file: string, text: string): Proof[] {
  // Most files have no such name, and parsing them all takes a second.
  if (!/['"`]R\d\d/.test(text)) return [];
  const names = nodesOf(file, text).map(testName);
  return names.filter((name) => promisesIn(name).length > 0).map((name) => ({ file, name }));
}

/** Returns the numbers that the name of a test begins with. */
function promisesIn(name: string): readonly string[] {
  return /^R\d\d(?:(?:, | and |\/| )R\d\d)*\b/.exec(name)?.[0].match(/R\d\d/g) ?? [];
}

/** Returns the name that a call of `it` or `test` gives; empty for any other node, and for a skipped test. */
function testName(node: Node): string {
  if (node['type'] !== 'CallExpression' || !Array.isArray(node['arguments'])) return '';
  const words = calleeWords(node['callee']);
  if (!/^(it|test)\b/.test(words) || /\b(skip|todo)\b/.test(words)) return '';
  return textOf(node['arguments'][0]) ?? '';
}

/** Returns `it each` for `it.each(rows)`. */
function calleeWords(node: unknown): string {
  if (!isNode(node)) return '';
  if (node['type'] === 'Identifier') return String(node['name']);
  if (node['type'] === 'CallExpression' || node['type'] === 'TaggedTemplateExpression')
    return calleeWords(node['callee'] ?? node['tag']);
  return `${calleeWords(node['object'])} ${calleeWords(node['property'])}`.trim();
}
