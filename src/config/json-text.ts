/** A JSON value that knows where it stands in its text, so that a fault can be shown by line and column. */
export type JsonNode =
  | { readonly kind: 'object'; readonly at: number; readonly members: ReadonlyMap<string, JsonMember> }
  | { readonly kind: 'array'; readonly at: number; readonly items: readonly JsonNode[] }
  | { readonly kind: 'scalar'; readonly at: number; readonly value: string | number | boolean | null };

/** A member of an object; `at` is where its name stands. */
export interface JsonMember {
  readonly at: number;
  readonly node: JsonNode;
}

/** What is wrong with a JSON text and where (an offset in it). The message never holds any of the text. */
export class JsonFault extends Error {
  override readonly name = 'JsonFault';
  readonly at: number;

  constructor(at: number, problem: string) {
    super(problem);
    this.at = at;
  }
}

// Deeper than any config; keeps a hostile file from using up the stack.
const DEEPEST = 32;

/** Reads strict JSON. Throws `JsonFault`, also for a name given twice: one of the two would be lost. */
export function readJson(text: string): JsonNode {
  const reader = new Reader(text);
  const node = reader.value(0);
  reader.end();
  return node;
}

export function plainValue(node: JsonNode): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'array') return node.items.map(plainValue);
  return Object.fromEntries([...node.members].map(([name, member]) => [name, plainValue(member.node)]));
}

/** Line and column of an offset, both from 1. */
export function positionOf(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): JsonNode {
    const at = this.#skipSpace();
    if (depth > DEEPEST) throw new JsonFault(at, 'it is nested too deeply');
    const first = this.#text[at];
    if (first === '{') return this.#object(at, depth);
    if (first === '[') return this.#array(at, depth);
    if (first === '"') return { kind: 'scalar', at, value: this.#string() };
    return { kind: 'scalar', at, value: this.#word() };
  }

  end(): void {
    if (this.#skipSpace() < this.#text.length) throw this.#unexpected('the end');
  }

  #object(at: number, depth: number): JsonNode {
    const members = new Map<string, JsonMember>();
    this.#at++;
    if (this.#takes('}')) return { kind: 'object', at, members };
    do {
      const nameAt = this.#skipSpace();
      if (this.#text[nameAt] !== '"') throw this.#unexpected('a name in double quotes');
      const name = this.#string();
      if (name === '__proto__') throw new JsonFault(nameAt, '__proto__ is no name for a setting');
      if (members.has(name)) throw new JsonFault(nameAt, 'a name is given twice');
      if (!this.#takes(':')) throw this.#unexpected('a colon');
      members.set(name, { at: nameAt, node: this.value(depth + 1) });
    } while (this.#takes(','));
    if (!this.#takes('}')) throw this.#unexpected('a comma or a closing brace');
    return { kind: 'object', at, members };
  }

  #array(at: number, depth: number): JsonNode {
    const items: JsonNode[] = [];
    this.#at++;
    if (this.#takes(']')) return { kind: 'array', at, items };
    do items.push(this.value(depth + 1));
    while (this.#takes(','));
    if (!this.#takes(']')) throw this.#unexpected('a comma or a closing bracket');
    return { kind: 'array', at, items };
  }

  #string(): string {
    const token = this.#match(/"(?:[ !#-[\]-\u{10ffff}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy);
    if (token === undefined) throw new JsonFault(this.#at, 'a string does not end, or contains an invalid character');
    return String(JSON.parse(token));
  }

  #word(): number | boolean | null {
    const token = this.#match(/true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y);
    if (token === undefined) throw this.#unexpected('a value');
    if (token === 'null') return null;
    return token === 'true' || token === 'false' ? token === 'true' : Number(token);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #takes(mark: string): boolean {
    if (this.#text[this.#skipSpace()] !== mark) return false;
    this.#at++;
    return true;
  }

  #skipSpace(): number {
    this.#match(/[ \t\r\n]*/y);
    return this.#at;
  }

  #unexpected(wanted: string): JsonFault {
    const cut = this.#at >= this.#text.length;
    return new JsonFault(this.#at, cut ? `it ends where ${wanted} should be` : `${wanted} should be here`);
  }
}
