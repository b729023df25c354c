import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isNode, nodesOf, textOf, type Node } from '../support/syntax.ts';

/** How many promises there are to the operator: R01 to R82. */
const PROMISES = 82;

/** The promises kept by now, as first and last numbers. This list only grows. */
const DUE = [[1, 69]] as const;

const proofs = findProofs(fileURLToPath(new URL('../', import.meta.url)));

describe('the promises', () => {
  it('that are kept by now each have a test whose name begins with their number', () => {
    const due = DUE.flatMap(([first, last]) => numbers(first, last));
    expect(due.filter((promise) => !proofs.has(promise))).toEqual([]);
  });

  it('are the known ones, and those without a test are told', () => {
    const known = numbers(1, PROMISES);
    const missing = known.filter((promise) => !proofs.has(promise));
    console.log(`${known.length - missing.length} of ${PROMISES} promises have tests; without: ${missing.join(' ')}`);
    expect([...proofs.keys()].filter((promise) => !known.includes(promise))).toEqual([]);
  });
});

describe('the search for proofs', () => {
  it('takes tests by name in every way of writing them', () => {
    const text = `
      it('R01 keeps the key', () => {});
      test.each([1])(\`R02, R03 and R04 of \${x}\`, () => {});
      describe('R05 group', () => { it.concurrent("R06: a colon", () => {}); });
      it.skip('R07 left out', () => {}); it.todo('R08 later'); // it('R09 in a comment')
      it('not R10 first', () => {}); expect('R11 is no test');`;
    expect(proofsIn('some.test.ts', text)).toEqual(['R01', 'R02', 'R03', 'R04', 'R06']);
  });
});

function numbers(first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => `R${String(first + index).padStart(2, '0')}`);
}

/** Test files by the promise that one of their tests begins with. */
function findProofs(directory: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const path of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.test.ts')) continue;
    for (const promise of proofsIn(path, readFileSync(join(directory, path), 'utf8')))
      found.set(promise, [...(found.get(promise) ?? []), path]);
  }
  return found;
}

function proofsIn(path: string, text: string): string[] {
  return nodesOf(path, text).flatMap((node) => {
    const name = testName(node);
    return /^R\d\d(?:(?:, | and |\/)R\d\d)*\b/.exec(name)?.[0].match(/R\d\d/g) ?? [];
  });
}

/** The name that the call of `it` or `test` gives, or nothing for any other node and for a test left out. */
function testName(node: Node): string {
  if (node['type'] !== 'CallExpression' || !Array.isArray(node['arguments'])) return '';
  const words = calleeWords(node['callee']);
  if (!/^(it|test)\b/.test(words) || /\b(skip|todo)\b/.test(words)) return '';
  return textOf(node['arguments'][0]) ?? '';
}

/** `it each` of `it.each(rows)`. */
function calleeWords(node: unknown): string {
  if (!isNode(node)) return '';
  if (node['type'] === 'Identifier') return String(node['name']);
  if (node['type'] === 'CallExpression' || node['type'] === 'TaggedTemplateExpression')
    return calleeWords(node['callee'] ?? node['tag']);
  return `${calleeWords(node['object'])} ${calleeWords(node['property'])}`.trim();
}
