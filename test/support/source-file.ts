import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { isNode, lastName, nodesOf, type Node } from './syntax.ts';

/** One import of a source file, however it is written. */
export interface Import {
  /** As written, such as `../errors.ts` or `node:fs`. */
  readonly specifier: string;
  /** Path below src/ for a relative import, such as `client/http/core.ts`. */
  readonly target: string | undefined;
  /** `type` imports vanish in the build; `dynamic` ones load when they run. */
  readonly kind: 'static' | 'type' | 'dynamic';
}

/** What the layer rules need to know of one file of src/. */
export interface SourceFile {
  /** Path below src/, with forward slashes. */
  readonly path: string;
  readonly imports: readonly Import[];
  /** Whether the identifier `process` appears anywhere. */
  readonly mentionsProcess: boolean;
  /** Whether it writes to stdout, stderr or the console. */
  readonly writesToStreams: boolean;
  readonly hasDefaultExport: boolean;
  /** Whether it listens for the end of a response, as a handler of undici. */
  readonly handlesResponses: boolean;
  /** How many statements set a private member named `#end`. */
  readonly setsEnd: number;
  /** Whether it opens files, to read them or to add to them. */
  readonly opensFiles: boolean;
}

const read = new Map<string, readonly SourceFile[]>();

/** Reads every TypeScript file below `directory`, once for all tests of a worker: parsing all of src/ takes seconds. */
export function readSourceFiles(directory: string): readonly SourceFile[] {
  const files = read.get(directory) ?? parseSourceFiles(directory);
  read.set(directory, files);
  return files;
}

function parseSourceFiles(directory: string): SourceFile[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts'))
    .toSorted()
    .map((path) => parseSourceFile(path, readFileSync(join(directory, path), 'utf8')));
}

/** Parses one file; a syntax error throws. */
export function parseSourceFile(path: string, text: string): SourceFile {
  const nodes = nodesOf(path, text);
  return {
    path,
    imports: nodes.flatMap((node) => readImport(path, node)),
    mentionsProcess: nodes.some((node) => node['type'] === 'Identifier' && node['name'] === 'process'),
    writesToStreams: nodes.some(writesToStream),
    hasDefaultExport: !path.endsWith('.d.ts') && nodes.some((node) => node['type'] === 'ExportDefaultDeclaration'),
    handlesResponses: nodes.some(({ type, key }) => type === 'MethodDefinition' && lastName(key) === 'onResponseEnd'),
    setsEnd: nodes.filter(setsPrivateEnd).length,
    opensFiles: nodes.some(opensFile),
  };
}

function readImport(path: string, node: Node): Import[] {
  const kind = kindOfImport(node);
  if (kind === undefined || !isNode(node['source'])) return [];
  const specifier = node['source']['value'];
  // No rule can judge an import by a computed name, so no rule allows it.
  if (typeof specifier !== 'string') return [{ specifier: '(computed)', target: undefined, kind }];
  const target = specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : undefined;
  return [{ specifier, target, kind }];
}

function kindOfImport(node: Node): Import['kind'] | undefined {
  switch (node['type']) {
    case 'ImportExpression':
      return 'dynamic';
    case 'TSImportType':
      return 'type';
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ExportNamedDeclaration':
      return isTypeOnly(node) ? 'type' : 'static';
    default:
      return undefined;
  }
}

function isTypeOnly(node: Node): boolean {
  if (node['importKind'] === 'type' || node['exportKind'] === 'type') return true;
  const names = node['specifiers'];
  return Array.isArray(names) && names.length > 0 && names.every((name) => isNode(name) && isTypeOnly(name));
}

function setsPrivateEnd({ type, left }: Node): boolean {
  const member = type === 'AssignmentExpression' && isNode(left) ? left['property'] : undefined;
  return isNode(member) && member['type'] === 'PrivateIdentifier' && member['name'] === 'end';
}

function writesToStream(node: Node): boolean {
  if (node['type'] === 'MemberExpression') return lastName(node['object']) === 'console';
  if (node['type'] !== 'CallExpression' || !Array.isArray(node['arguments'])) return false;
  const method = lastName(node['callee']) ?? '';
  const object = isNode(node['callee']) ? node['callee']['object'] : undefined;
  if (['write', 'end'].includes(method)) return isStandardStream(object);
  return ['pipe', 'pipeTo', 'pipeline'].includes(method) && node['arguments'].some(isStandardStream);
}

function isStandardStream(node: unknown): boolean {
  return ['stdout', 'stderr'].includes(lastName(node) ?? '');
}

const OPENING = /^(open|openSync|openAsBlob|readFile|readFileSync|createReadStream|appendFile|appendFileSync)$/;

/** Tells whether a node uses or imports a function of `node:fs` that opens files. */
function opensFile(node: Node): boolean {
  if (node['type'] === 'MemberExpression')
    return (
      OPENING.test(lastName(node) ?? '') && /^(fs|\w*Fs|promises|fsPromises)$/.test(lastName(node['object']) ?? '')
    );
  if (node['type'] !== 'ImportDeclaration' || !isNode(node['source']) || !Array.isArray(node['specifiers']))
    return false;
  if (!/^(node:)?fs(\/promises)?$/.test(String(node['source']['value']))) return false;
  return node['specifiers'].some((name) => isNode(name) && OPENING.test(lastName(name['imported']) ?? ''));
}
