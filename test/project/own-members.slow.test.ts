import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isNode, type Node, nodesOf } from '../support/syntax.ts';

interface File {
  readonly path: string;
  readonly text: string;
  readonly nodes: readonly Node[];
}

const root = fileURLToPath(new URL('../../src/', import.meta.url));

function parsed(path: string, text: string): File {
  return { path, text, nodes: nodesOf(path, text) };
}

/** Returns the constants of a file that are object literals with members, with the text of their type. */
function tablesOf({ text, nodes }: File): { name: string; type: string }[] {
  return nodes.flatMap((node) => {
    const { type, id, init } = node;
    if (type !== 'VariableDeclarator' || !isNode(id) || id['type'] !== 'Identifier' || !isLiteral(init)) return [];
    const annotation = id['typeAnnotation'];
    return [{ name: String(id['name']), type: isNode(annotation) ? sourceOf(annotation, text) : '' }];
  });
}

function isLiteral(init: unknown): boolean {
  if (!isNode(init)) return false;
  if (init['type'] === 'ObjectExpression') return Array.isArray(init['properties']) && init['properties'].length > 0;
  return isLiteral(init['expression']);
}

function sourceOf(node: Node, text: string): string {
  return text.slice(Number(node['start']), Number(node['end']));
}

/** Returns the names that a file imports. */
function importsOf({ nodes }: File): Set<string> {
  const specifiers = nodes.filter(({ type }) => type === 'ImportSpecifier');
  return new Set(specifiers.map(({ local }) => (isNode(local) ? String(local['name']) : '')));
}

/** Returns the name at the start of `NAME[…]?.[…].x`. */
function rootName(node: unknown): string {
  if (!isNode(node)) return '';
  if (node['type'] === 'Identifier') return String(node['name']);
  return rootName(node['object'] ?? node['expression']);
}

function isFixed(index: unknown): boolean {
  return isNode(index) && index['type'] === 'Literal';
}

/** Returns the places of `files` that look a text up in an object literal, and so find what every object inherits. */
function unsafeLookUps(files: readonly File[]): string[] {
  const tables = new Map(files.map((file) => [file.path, tablesOf(file)]));
  const everywhere = [...tables.values()].flat();
  return files.flatMap((file) => {
    const own = tables.get(file.path) ?? [];
    const imported = importsOf(file);
    const known = [...own, ...everywhere.filter(({ name }) => imported.has(name))];
    const open = new Set(known.filter(({ type }) => type.includes('Record<string')).map(({ name }) => name));
    const all = new Set(known.map(({ name }) => name));
    return file.nodes
      .filter(({ type, computed, object, property, operator, left, right }) => {
        if (type === 'MemberExpression') return computed === true && !isFixed(property) && open.has(rootName(object));
        return type === 'BinaryExpression' && operator === 'in' && !isFixed(left) && all.has(rootName(right));
      })
      .map((node) => `${file.path}: ${sourceOf(node, file.text)}`);
  });
}

/** Returns the names of the empty objects of a file that may get any member. */
function emptyObjectsOf({ text, nodes }: File): Set<string> {
  const names = nodes.flatMap(({ type, id, init }) => {
    if (type !== 'VariableDeclarator' || !isNode(id) || !isEmptyLiteral(init)) return [];
    return sourceOf(id, text).includes('Record<string') ? [String(id['name'])] : [];
  });
  return new Set(names);
}

function isEmptyLiteral(init: unknown): boolean {
  if (!isNode(init) || init['type'] !== 'ObjectExpression') return false;
  return Array.isArray(init['properties']) && init['properties'].length === 0;
}

/** Returns the places of a file that fill an empty object by a name, which may be "__proto__". */
function unsafeFills(file: File): string[] {
  const empty = emptyObjectsOf(file);
  return file.nodes
    .filter(({ type, left }) => {
      if (type !== 'AssignmentExpression' || !isNode(left) || left['type'] !== 'MemberExpression') return false;
      return left['computed'] === true && !isFixed(left['property']) && empty.has(rootName(left));
    })
    .map((node) => `${file.path}: ${sourceOf(node, file.text)}`);
}

describe('tables', () => {
  it('tables are looked up with ownMember and filled as Maps, so that a typed "constructor" finds nothing', () => {
    const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
    const files = paths.map((path) => parsed(path, readFileSync(join(root, path), 'utf8')));
    expect(files.length).toBeGreaterThan(200);
    expect(unsafeLookUps(files)).toEqual([]);
    expect(files.flatMap(unsafeFills)).toEqual([]);
  });

  it.each([
    ['const t: Record<string, number> = {};\nt[read()] = 1;', ['a.ts: t[read()] = 1']],
    ['const t: Record<string, number[]> = {};\n(t[name] ??= []).push(1);', ['a.ts: t[name] ??= []']],
    ["const t: Record<string, number> = {};\nt['a'] = 1;", []],
    ["const t: Partial<Record<'a' | 'b', number>> = {};\nt[name] = 1;", []],
    ['const t = new Map<string, number>();\nt.set(name, 1);', []],
    ['const t: number[] = [];\nt[at] = 1;', []],
  ])('the search for unsafe fills judges %j', (text, expected) => {
    expect(unsafeFills(parsed('a.ts', text))).toEqual(expected);
  });

  it.each([
    ['const T: Readonly<Record<string, number>> = { a: 1 };\nexport const x = (w: string) => T[w];', ['a.ts: T[w]']],
    [
      "const T: Record<string, Record<string, number>> = { a: {} };\nexport const x = (w: string) => T['a']?.[w];",
      ["a.ts: T['a']?.[w]"],
    ],
    ['const T = { a: 1 };\nexport const x = (w: string) => w in T;', ['a.ts: w in T']],
    ["const T: Record<string, number> = { a: 1 };\nexport const x = T['a'];", []],
    ["const T: Record<'a' | 'b', number> = { a: 1, b: 2 };\nexport const x = (w: 'a') => T[w];", []],
    ['const T: Record<string, number> = read();\nexport const x = T;', []],
  ])('the search for unsafe look-ups judges %j', (text, expected) => {
    expect(unsafeLookUps([parsed('a.ts', text)])).toEqual(expected);
  });

  it('the search for unsafe look-ups finds those of another file’s table', () => {
    const files = [
      parsed('a.ts', 'export const T: Record<string, number> = { a: 1 };'),
      parsed('b.ts', "import { T } from './a.ts';\nexport const x = (w: string) => T[w];"),
    ];
    expect(unsafeLookUps(files)).toEqual(['b.ts: T[w]']);
  });
});
