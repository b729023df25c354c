import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isNode, type Node, nodesOf } from '../support/syntax.ts';

const src = new URL('../../src/', import.meta.url);

/** The files with the schemas of what svc writes for itself, and the folder whose code must read it. */
const SCHEMAS = [
  ['au/', 'au/refresh/refresh-directory.ts'],
  ['au/', 'au/ledger/entry.ts'],
  ['logs/', 'logs/position.ts'],
  ['logs/', 'logs/tail/checkpoint.ts'],
  ['logs/', 'logs/archive/records/record.ts'],
  ['logs/', 'logs/archive/records/chain.ts'],
  ['logs/', 'logs/archive/segment-index.ts'],
] as const;

/** `refuseNewer` reads the version of every file. */
const READ_OTHERWISE: ReadonlySet<string> = new Set(['version']);

describe('what svc writes for itself', () => {
  it.each(SCHEMAS)('code below %s reads each member that %s describes', (folder, file) => {
    const nodes = nodesIn(file);
    const names = [...new Set(nodes.flatMap((node) => describedNames(node, nodes)))];
    const reads = readsBelow(folder);
    expect(names).not.toEqual([]);
    expect(names.filter((name) => !READ_OTHERWISE.has(name) && !reads.has(name))).toEqual([]);
  });
});

const known = new Map<string, Set<string>>();

/** Returns the names that code below a folder reads. */
function readsBelow(folder: string): Set<string> {
  const paths = readdirSync(new URL(folder, src), { recursive: true, encoding: 'utf8' });
  const sources = paths.filter((path) => path.endsWith('.ts')).map((path) => `${folder}${path.replaceAll('\\', '/')}`);
  const names = known.get(folder) ?? new Set(sources.flatMap((path) => nodesIn(path).flatMap(readNames)));
  known.set(folder, names);
  return names;
}

function nodesIn(file: string): Node[] {
  return nodesOf(file, readFileSync(new URL(file, src), 'utf8'));
}

/** Returns the names in the object that is given to `z.looseObject` or `z.extend`, and in constants that it spreads. */
function describedNames(node: Node, all: readonly Node[]): string[] {
  if (node['type'] !== 'CallExpression' || !isNode(node['callee'])) return [];
  const method = nameOf(node['callee']['property']);
  if (method !== 'looseObject' && method !== 'extend') return [];
  return memberNames((node['arguments'] as Node[]).at(-1), all);
}

function memberNames(shape: unknown, all: readonly Node[]): string[] {
  const members = isNode(shape) ? ((shape['properties'] ?? []) as Node[]) : [];
  return members.flatMap(({ key, argument }) => {
    if (argument === undefined) return nameOf(key) ?? [];
    const declared = all.find(({ type, id }) => type === 'VariableDeclarator' && nameOf(id) === nameOf(argument));
    return memberNames(declared?.['init'], all);
  });
}

/** Returns the names that a node reads: `record.name`, unless it is assigned to, or `{ name } = record`. */
function readNames(node: Node): string[] {
  if (node['type'] === 'MemberExpression') return [nameOf(node['property']) ?? []].flat();
  if (node['type'] !== 'ObjectPattern') return [];
  return (node['properties'] as Node[]).flatMap(({ key }) => nameOf(key) ?? []);
}

function nameOf(node: unknown): string | undefined {
  return isNode(node) && typeof node['name'] === 'string' ? node['name'] : undefined;
}
