/** Responses, and entries that are parsed member by member, are not nested deeper than this. */
export const MAX_DEPTH = 200;

/** The text that a value was parsed from, without the whitespace between its tokens. */
export interface JsonSource {
  readonly text: string;
  /** How deep it is nested: 0 for a string or number, 1 for an object of those. */
  readonly depth: number;
  /** Whether the value says all that the text does, once that was found out. */
  isPlain?: boolean;
}

// A hidden member costs less than a WeakMap, which keeps a page of texts until a full garbage collection.
const SOURCE = Symbol('source');

/** Keeps the text that a value was parsed from with it. Copies of the value do not have it. */
export function keepSource<T extends object>(value: T, source: JsonSource): T {
  return Object.defineProperty(value, SOURCE, { value: source, configurable: true });
}

/** The text that a value was parsed from, where that was kept. */
export function sourceOf(value: unknown): JsonSource | undefined {
  if (typeof value !== 'object' || value === null || !(SOURCE in value)) return undefined;
  return value[SOURCE] as JsonSource;
}

/** The source of a whole text. Like everything here, for text that `JSON.parse` accepts. */
export function sourceFrom(text: string): JsonSource {
  return new Scanner(text).value();
}

/**
 * The items of a list (an array, or the array in the member `data`), sliced out of the text of a response, and how deep
 * the rest is nested; undefined where it is no list.
 */
export function listSource(text: string): { items: readonly JsonSource[]; depth: number } | undefined {
  const scanner = new Scanner(text);
  if (scanner.peek() === '[') return { items: scanner.items(() => scanner.value()), depth: 1 };
  if (scanner.peek() !== '{') return undefined;
  let items: readonly JsonSource[] | undefined;
  let depth = 2;
  for (const name of scanner.names()) {
    const isList = name === 'data' && scanner.peek() === '[';
    if (isList) {
      items = scanner.items(() => scanner.value());
    } else {
      // If a member appears twice, the last one counts, as with `JSON.parse`.
      if (name === 'data') items = undefined;
      depth = Math.max(depth, 1 + scanner.value().depth);
    }
  }
  return items && { items, depth };
}

/** Where the value that begins at `start` ends. */
export function endOfValue(text: string, start: number): number {
  const scanner = new Scanner(text, start);
  scanner.value();
  return scanner.at;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** All whitespace of JSON is at or below the space. */
const SPACE = 0x20;
const ENDS_WORD = new Set([COMMA, CLOSE_ARRAY, CLOSE_OBJECT, 0x20, 0x0a, 0x0d, 0x09]);

/** Goes once over JSON text that is known to be valid. */
export class Scanner {
  at: number;
  readonly #text: string;

  constructor(text: string, at = 0) {
    this.#text = text;
    this.at = at;
    this.#skipSpace();
  }

  peek(): string | undefined {
    return this.#text[this.at];
  }

  /** Passes an array and gives its items, each of which `read` is to pass. */
  items<T>(read: () => T): T[] {
    const items: T[] = [];
    this.#step();
    while (this.#text.charCodeAt(this.at) !== CLOSE_ARRAY) {
      items.push(read());
      this.#skipSpace();
      if (this.#text.charCodeAt(this.at) === COMMA) this.#step();
    }
    this.at += 1;
    return items;
  }

  /** The names of an object's members. After each one its value is to be passed. */
  *names(): Generator<string> {
    this.#step();
    while (this.#text.charCodeAt(this.at) !== CLOSE_OBJECT) {
      const end = endOfString(this.#text, this.at);
      const name = String(JSON.parse(this.#text.slice(this.at, end)));
      this.at = end;
      this.#skipSpace();
      this.#step();
      yield name;
      this.#skipSpace();
      if (this.#text.charCodeAt(this.at) === COMMA) this.#step();
    }
    this.at += 1;
  }

  /** Passes one value and gives its source. */
  value(): JsonSource {
    const start = this.at;
    const code = this.#text.charCodeAt(start);
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) return this.#nested(start);
    this.at = code === QUOTE ? endOfString(this.#text, start) : this.#endOfWord(start);
    return { text: this.#text.slice(start, this.at), depth: 0 };
  }

  #nested(start: number): JsonSource {
    const text = this.#text;
    let at = start;
    let open = 0;
    let deepest = 0;
    let hasSpace = false;
    do {
      const code = text.charCodeAt(at);
      if (code === QUOTE) at = endOfString(text, at) - 1;
      else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
        open += 1;
        if (open > deepest) deepest = open;
      } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) open -= 1;
      else if (code <= SPACE) hasSpace = true;
      at += 1;
    } while (open > 0);
    this.at = at;
    const slice = text.slice(start, at);
    return { text: hasSpace ? withoutSpace(slice) : slice, depth: deepest };
  }

  #endOfWord(start: number): number {
    let at = start;
    while (at < this.#text.length && !ENDS_WORD.has(this.#text.charCodeAt(at))) at += 1;
    return at;
  }

  #step(): void {
    this.at += 1;
    this.#skipSpace();
  }

  #skipSpace(): void {
    while (this.#text.charCodeAt(this.at) <= SPACE) this.at += 1;
  }
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return end + 1;
  }
}

function withoutSpace(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (code <= SPACE) {
      kept.push(text.slice(from, at));
      from = at + 1;
    }
  }
  kept.push(text.slice(from));
  return kept.join('');
}
