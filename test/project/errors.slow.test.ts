import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { isNode, lastName, type Node, nodesOf } from '../support/syntax.ts';

const root = fileURLToPath(new URL('../../src/', import.meta.url));
const sources = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const codeOf = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** `SvcError` and the classes that extend it. */
const OWN = new Set(['SvcError', ...sources.flatMap((file) => subclassesIn(codeOf(file)))]);
/** Errors without the members of an `SvcError`, apart from the message. */
const PLAIN = new Set(['FaultSyntaxError', 'JsonFault', 'CommanderError', 'TransportFailure']);
/** Members that only a copy of another error reads. A copied message counts, since the rest would be lost. */
const COPIED = new Set(['code', 'message', 'hint', 'next', 'alternatives', 'facts', 'commands', 'retryable']);

it('errors that are wrapped keep their facts, since every place uses their method `with`', () => {
  expect(OWN.size).toBeGreaterThan(4);
  expect(sources.flatMap((file) => copiesIn(codeOf(file), file))).toEqual([]);
});

it.each([
  "try { f() } catch (error) { throw new SvcError('local', error.message) }",
  "try { f() } catch (error) { const { message, hint } = error; throw new SvcError('local', message, { hint }) }",
  "work.catch((error: unknown) => { throw new SvcError('local', `no: ${error.message}`) })",
  "function renewed(error: SvcError) { return new SvcError(error.code, 'no') }",
  "function renewed({ code, facts }: SvcError) { return new UnsoundList(code, 'no', { facts }) }",
])('errors that are wrapped are found where their members are copied: %s', (code) => {
  expect(copiesIn(code, 'x.ts')).toEqual(['x.ts:1']);
});

it.each([
  "try { f() } catch (error) { throw new SvcError('local', 'no', { cause: error }) }",
  'try { f() } catch (error) { throw error.with({ message: `no: ${error.message}` }) }',
  "try { f() } catch (error) { if (error instanceof JsonFault) throw new SvcError('usage', error.message) }",
  "function refused(reply: Reply) { return new SvcError('server', reply.message) }",
])('errors that are wrapped are left alone where nothing is copied: %s', (code) => {
  expect(copiesIn(code, 'x.ts')).toEqual([]);
});

function subclassesIn(code: string): string[] {
  if (!code.includes('extends SvcError')) return [];
  return nodesOf('x.ts', code).flatMap((node) =>
    node['type'] === 'ClassDeclaration' && lastName(node['superClass']) === 'SvcError'
      ? [lastName(node['id']) ?? '']
      : [],
  );
}

/** The names of errors, and of the members that were taken out of one. */
interface Names {
  readonly errors: ReadonlySet<string>;
  readonly members: ReadonlySet<string>;
}

/** Returns each place where a new error is made with members of another. */
function copiesIn(code: string, file: string): string[] {
  if (![...OWN].some((name) => code.includes(`new ${name}(`))) return [];
  const lines = new Set<number>();
  const visit = (value: unknown, outer: Names): void => {
    if (Array.isArray(value)) for (const item of value) visit(item, outer);
    else if (isNode(value)) {
      const names = namesIn(value, outer);
      if (value['type'] === 'NewExpression' && OWN.has(lastName(value['callee']) ?? '') && copies(value, names))
        lines.add(code.slice(0, Number(value['start'])).split('\n').length);
      for (const child of Object.values(value)) visit(child, names);
    }
  };
  visit(nodesOf(file, code)[0], { errors: new Set(), members: new Set() });
  return [...lines].map((line) => `${file}:${line}`);
}

/** Returns the names that are known inside a node: a caught error, an error that is a parameter, and their members. */
function namesIn(node: Node, { errors, members }: Names): Names {
  const bound = node['type'] === 'CatchClause' ? [node['param']] : parametersOf(node).filter(mayBeError);
  const names = bound.flatMap((one) => (isNode(one) && one['type'] === 'Identifier' ? [String(one['name'])] : []));
  const known = new Set([...errors, ...names.filter((name) => !isPlain(name, node))]);
  const taken = [
    ...bound.filter((one) => isNode(one) && one['type'] === 'ObjectPattern'),
    ...(node['type'] === 'BlockStatement' ? patternsOf(node, known) : []),
  ];
  return { errors: known, members: new Set([...members, ...taken.flatMap(membersOf)]) };
}

function parametersOf(node: Node): unknown[] {
  return Array.isArray(node['params']) ? node['params'] : [];
}

/** Tells whether a parameter is an error by its type, or by its name where the type is `unknown`. */
function mayBeError(parameter: unknown): boolean {
  const types = below(isNode(parameter) ? parameter['typeAnnotation'] : undefined);
  if (types.some((node) => OWN.has(lastName(node['typeName']) ?? ''))) return true;
  return types.some((node) => node['type'] === 'TSUnknownKeyword') && /error|failure/i.test(lastName(parameter) ?? '');
}

/** Tells whether the code compares an error with a class of errors that have only a message. */
function isPlain(name: string, scope: Node): boolean {
  return below(scope).some(
    (node) =>
      node['operator'] === 'instanceof' && lastName(node['left']) === name && PLAIN.has(lastName(node['right']) ?? ''),
  );
}

/** Returns the patterns `const { … } = error` of a block. */
function patternsOf(block: Node, errors: ReadonlySet<string>): unknown[] {
  const statements = Array.isArray(block['body']) ? block['body'].filter(isNode) : [];
  const declared = statements.flatMap((node) => (Array.isArray(node['declarations']) ? node['declarations'] : []));
  return declared.filter(isNode).flatMap(({ id, init }) => (errors.has(lastName(init) ?? '') ? [id] : []));
}

function membersOf(pattern: unknown): string[] {
  const properties =
    isNode(pattern) && Array.isArray(pattern['properties']) ? pattern['properties'].filter(isNode) : [];
  return properties.flatMap(({ key, value }) => (COPIED.has(lastName(key) ?? '') ? [lastName(value) ?? ''] : []));
}

function copies(made: Node, { errors, members }: Names): boolean {
  return below(made['arguments']).some((node) => {
    if (node['type'] === 'Identifier') return members.has(String(node['name']));
    const object = node['type'] === 'MemberExpression' ? node['object'] : undefined;
    const isOfError = isNode(object) && object['type'] === 'Identifier' && errors.has(String(object['name']));
    return isOfError && COPIED.has(lastName(node['property']) ?? '');
  });
}

function below(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(below);
  return isNode(value) ? [value, ...Object.values(value).flatMap(below)] : [];
}
