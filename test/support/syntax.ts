import { parseSync } from 'rolldown/utils';

/** A node of a syntax tree (ESTree with TypeScript), read by name because the rules look at few of them. */
export type Node = Readonly<Record<string, unknown>>;

/** Returns every node of a TypeScript or JavaScript file, the outermost first; a syntax error throws. */
export function nodesOf(path: string, text: string): Node[] {
  const { program, errors } = parseSync(path, text);
  if (errors[0] !== undefined) throw new Error(`${path}: ${errors[0].message}`);
  const nodes: Node[] = [];
  collect(program, nodes);
  return nodes;
}

/** Tells whether a value is an object, as a child of a node may be. */
export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

/** Returns `c` for `a.b.c`, and the name for a name. */
export function lastName(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node['type'] === 'Identifier') return String(node['name']);
  return node['type'] === 'MemberExpression' ? lastName(node['property']) : undefined;
}

/** Returns the text of a string, or the start of a template; undefined for any other node. */
export function textOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (typeof node['value'] === 'string') return node['value'];
  const [start] = Array.isArray(node['quasis']) ? node['quasis'] : [];
  return isNode(start) && isNode(start['value']) ? String(start['value']['raw']) : undefined;
}

function collect(value: object, nodes: Node[]): void {
  if (!Array.isArray(value) && 'type' in value && typeof value.type === 'string') nodes.push(value);
  for (const child of Object.values(value)) {
    if (typeof child === 'object' && child !== null) collect(child, nodes);
  }
}
