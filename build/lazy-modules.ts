import MagicString from 'magic-string';
import type { Plugin } from 'rolldown';

/** The entry, which every start loads, and the bundler's helpers, which the rewritten code calls. */
const ALWAYS_LOADED = /^\.\/(svc\.cjs|rolldown-runtime)/;

const HELPER = 'const whenUsed = (load) => { let loaded; return () => (loaded ??= load()); };\n';

/**
 * Loads each module that a chunk requires where the chunk first uses it: help and TAB read what a command declares, not
 * what it runs. Without this, TAB takes twice as long.
 *
 * `const x = require('./x.cjs')` becomes `const x = whenUsed(() => require('./x.cjs'))`, and each use of `x` becomes
 * `x()`.
 */
export function lazyModules(): Plugin {
  let count = 0;
  return {
    name: 'lazy-modules',
    renderChunk(code) {
      const { body } = this.parse(code) as unknown as { readonly body: readonly Node[] };
      const modules = body.flatMap((statement) => requiredModule(statement) ?? []);
      if (modules.length === 0) return null;
      count += modules.length;
      return HELPER + rewritten(code, body, new Map(modules.map((module) => [module.name, module])));
    },
    generateBundle() {
      if (count === 0) this.error('no chunk requires a module in the form that build/lazy-modules.ts rewrites');
    },
  };
}

/** A node of the syntax tree. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

interface RequiredModule {
  readonly name: string;
  readonly statement: Node;
  readonly call: Node;
}

/** Returns the module in `const name = require('…')`; undefined in other statements, and if it is always loaded. */
function requiredModule(statement: Node): RequiredModule | undefined {
  if (statement.type !== 'VariableDeclaration') return undefined;
  const declarators = statement['declarations'] as { id: Node; init: Node | null }[];
  const [{ id, init } = { id: undefined, init: undefined }] = declarators;
  if (!id || init?.type !== 'CallExpression' || declarators.length > 1) return undefined;
  const { callee, arguments: passed } = init as unknown as { callee: Node; arguments: Node[] };
  const specifier = passed[0]?.['value'];
  if (callee['name'] !== 'require' || typeof specifier !== 'string' || ALWAYS_LOADED.test(specifier)) return undefined;
  return { name: String(id['name']), statement, call: init };
}

function rewritten(code: string, body: readonly Node[], modules: ReadonlyMap<string, RequiredModule>): string {
  const text = new MagicString(code);
  const loads = new Map(Array.from(modules, ([name, { call }]) => [name, code.slice(call.start, call.end)]));
  for (const statement of body) {
    const conversion = conversionOf(statement);
    const required = loads.get(conversion?.name ?? '');
    if (conversion && required !== undefined) {
      const { value, name } = conversion;
      loads.set(
        name,
        code.slice(value.start, value.end).replace(`(${name},`, () => `(${required},`),
      );
      text.remove(statement.start, statement.end);
    } else if (!requiredModule(statement)) replaceUses(statement, modules, text);
  }
  for (const { name, statement } of modules.values())
    text.overwrite(statement.start, statement.end, `const ${name} = whenUsed(() => ${loads.get(name)});`);
  return text.toString();
}

/** Finds `name = helpers.__toESM(name, 1)`, by which the bundler converts a default import of a CommonJS module. */
function conversionOf(statement: Node): { name: string; value: Node } | undefined {
  const { left, right } = (statement['expression'] ?? {}) as { left?: Node; right?: Node };
  if (left?.type !== 'Identifier' || right?.type !== 'CallExpression') return undefined;
  return { name: String(left['name']), value: right };
}

function replaceUses(node: Node, modules: ReadonlyMap<string, unknown>, text: MagicString): void {
  if (node.type === 'Identifier' && modules.has(String(node['name']))) {
    // The call needs parentheses, since the name may follow `new`.
    text.overwrite(node.start, node.end, `(${String(node['name'])}())`);
    return;
  }
  if (node.type === 'Property' && node['shorthand'] === true && modules.has(String((node['key'] as Node)['name'])))
    throw new Error('build/lazy-modules.ts cannot rewrite a module in a shorthand property');
  const isNamed = node['computed'] !== true;
  for (const [member, child] of Object.entries(node)) {
    // Names of members and properties do not refer to a module.
    if (isNamed && (member === 'property' || member === 'key')) continue;
    for (const each of [child].flat()) if (isNode(each)) replaceUses(each, modules, text);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}
