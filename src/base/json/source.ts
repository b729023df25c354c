import { isUtf8 } from 'node:buffer';

// Finds the text of each item of a response, because JSON.parse loses digits of long numbers and repeated members.

/** The maximum nesting of responses, and of entries parsed member by member. */
export const MAX_DEPTH = 200;

/** The text that a value was parsed from, without the whitespace between its tokens. */
export interface JsonSource {
  readonly text: string;
  /** Depth of nesting: 0 for a string or number, 1 for an object of strings and numbers. */
  readonly depth: number;
  /** The bytes of the value, if some are not UTF-8 and therefore missing in the text. */
  readonly bytes?: Buffer | undefined;
  /** Whether the value contains everything in the text; absent until computed. */
  isPlain?: boolean;
}

// A symbol member is cheaper than a WeakMap, which would keep texts in memory until a full garbage collection.
const SOURCE = Symbol('source');

/** Attaches to a value the text from which it was parsed. Copies of the value do not have the text. */
export function keepSource<T extends object>(value: T, source: JsonSource): T {
  return Object.defineProperty(value, SOURCE, { value: source, configurable: true });
}

/** Returns the text from which a value was parsed, if `keepSource` kept the text. */
export function sourceOf(value: unknown): JsonSource | undefined {
  if (typeof value !== 'object' || value === null || !(SOURCE in value)) return undefined;
  return value[SOURCE] as JsonSource;
}

/** Returns the source of a whole text. All texts in this file must be valid JSON. */
export function sourceFrom(text: string): JsonSource {
  return new Scanner(text).value();
}

/**
 * Returns the source of each item of a list, and the depth of the rest. The list is the response itself, or its member `data`;
 * undefined for any other response.
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
      // The last of several members `data` counts, as with `JSON.parse`.
      if (name === 'data') items = undefined;
      depth = Math.max(depth, 1 + scanner.value().depth);
    }
  }
  return items && { items, depth };
}

/**
 * Like `listSource`, for a response with bytes that are not UTF-8. Items with such bytes keep them. Reads each byte as one
 * character, which is safe because the characters that structure JSON are single bytes.
 */
export function listSourceOfBytes(bytes: Buffer): ReturnType<typeof listSource> {
  const list = listSource(bytes.toString('latin1'));
  return (
    list && { ...list, items: list.items.map(({ text, depth }) => sourceOfBytes(Buffer.from(text, 'latin1'), depth)) }
  );
}

/** Returns the source of a value that was sent as these bytes. */
function sourceOfBytes(bytes: Buffer, depth: number): JsonSource {
  const source = { text: bytes.toString('utf8'), depth };
  return isUtf8(bytes) ? source : { ...source, bytes };
}

/** Returns the end of the value that begins at `start`. */
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
/** The highest code of JSON whitespace. */
const SPACE = 0x20;
const ENDS_WORD = new Set([COMMA, CLOSE_ARRAY, CLOSE_OBJECT, 0x20, 0x0a, 0x0d, 0x09]);

/** Scans valid JSON text once, from left to right. */
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

  /** Passes an array and returns its items, each consumed by `read`. */
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

  /** Yields the names of an object's members. The caller must pass each value before the next name. */
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

  /** Passes one value and returns its source. */
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

/** Returns the end of the string that begins at `start`. A string without its closing quote ends with the text. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return end + 1;
  }
  return text.length;
}

/**
 * Replaces the tokens of JSON that `start` matches, with the flag `g`. For a string, it matches the quote alone: a pattern of a
 * whole string overflows the stack for a string with millions of escapes.
 */
export function replaceTokens(text: string, start: RegExp, replace: (token: string) => string): string {
  let replaced = '';
  let from = 0;
  start.lastIndex = 0;
  for (let match = start.exec(text); match !== null; match = start.exec(text)) {
    const end = match[0] === '"' ? endOfString(text, match.index) : start.lastIndex;
    const token = text.slice(match.index, end);
    const replacement = replace(token);
    // `replace` may have used the pattern itself.
    start.lastIndex = end;
    if (replacement === token) continue;
    replaced += text.slice(from, match.index) + replacement;
    from = end;
  }
  return replaced + text.slice(from);
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
