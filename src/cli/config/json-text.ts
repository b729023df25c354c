import { createScanner, type Node, type ParseError, parseTree } from 'jsonc-parser';

// Reads JSON with the line and column of each fault, which JSON.parse does not report. Errors never quote the text, because the
// config file contains keys.

/** A fault in a JSON text, with its offset. The message never quotes the text. */
export class JsonFault extends Error {
  override readonly name = 'JsonFault';
  readonly at: number;

  constructor(at: number, problem: string) {
    super(problem);
    this.at = at;
  }
}

// No config is nested as deeply. The parser recurses, so deep nesting could exhaust the stack.
const MAX_DEPTH = 32;

/**
 * Reads strict JSON, or JSON with comments, into nodes with their positions.
 * @throws JsonFault for the first fault. A repeated member is a fault, since one of its values would be lost.
 */
export function readJson(text: string, comments: 'no comments' | 'comments' = 'no comments'): Node {
  refuseDeepNesting(text);
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { disallowComments: comments === 'no comments', allowTrailingComma: false });
  const [first] = errors;
  if (first) throw faultOf(first, text);
  if (!root) throw new JsonFault(text.length, 'it ends where a value should be');
  refuseLostMembers(root);
  return root;
}

/** Returns the name and the value of each member of an object; nothing for other nodes. */
export function membersOf({ type, children = [] }: Node): (readonly [name: Node, value: Node])[] {
  if (type !== 'object') return [];
  return children.flatMap(({ children: [name, value] = [] }) => (name && value ? [[name, value] as const] : []));
}

/** Returns line and column of an offset, both counted from 1. */
export function positionOf(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function refuseDeepNesting(text: string): void {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (let token: number = scanner.scan(); token !== END_OF_TEXT; token = scanner.scan()) {
    if (OPENING.has(token)) depth += 1;
    if (CLOSING.has(token)) depth -= 1;
    if (depth > MAX_DEPTH) throw new JsonFault(scanner.getTokenOffset(), 'it is nested too deeply');
  }
}

// The package declares these numbers as const enums, which a module compiled in isolation cannot import.
const OPENING: ReadonlySet<number> = new Set([1, 3]);
const CLOSING: ReadonlySet<number> = new Set([2, 4]);
const END_OF_TEXT = 17;

/** The expected token for each error code of the parser. */
const EXPECTED: ReadonlyMap<number, string> = new Map([
  [1, 'a value'],
  [3, 'a name in double quotes'],
  [4, 'a value'],
  [5, 'a colon'],
  [6, 'a comma'],
  [7, 'a comma or a closing brace'],
  [8, 'a comma or a closing bracket'],
  [9, 'the end'],
]);

/** The fault within a token for each error code of the parser. */
const INVALID: ReadonlyMap<number, string> = new Map([
  [2, 'a number is not valid'],
  [10, 'comments are not allowed'],
  [11, 'a comment does not end'],
  [12, 'a string does not end, or contains an invalid character'],
  [13, 'a number is not valid'],
  [14, 'an escape in a string is not valid'],
  [15, 'an escape in a string is not valid'],
  [16, 'a string does not end, or contains an invalid character'],
]);

function faultOf({ error, offset }: ParseError, text: string): JsonFault {
  const code: number = error;
  const expected = EXPECTED.get(code);
  if (expected === undefined) return new JsonFault(offset, INVALID.get(code) ?? 'it is not valid JSON');
  const cut = text.slice(offset).trim() === '';
  return new JsonFault(offset, cut ? `it ends where ${expected} should be` : `${expected} should be here`);
}

function refuseLostMembers(node: Node): void {
  const names = new Set<unknown>();
  for (const [name] of membersOf(node)) {
    if (name.value === '__proto__') throw new JsonFault(name.offset, '__proto__ is no name for a setting');
    if (names.has(name.value)) throw new JsonFault(name.offset, 'a name is given twice');
    names.add(name.value);
  }
  for (const child of node.children ?? []) refuseLostMembers(child);
}
