import { isObject } from '../../schema/json-value.ts';
import { endOfValue, type JsonSource, keepSource, MAX_DEPTH, Scanner, sourceOf } from './source.ts';

/** A part of JSON kept as its text: a number that JavaScript would write differently, or what is nested too deep. */
export class JsonToken {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  get isNumber(): boolean {
    return !/^[[{]/.test(this.text);
  }
}

/** What reading a text member by member shows. */
export interface ExactJson {
  /** Objects have no prototype, so that `__proto__` is a member like any other; of equal names the last counts. */
  readonly value: unknown;
  /** Whether `JSON.parse` would lose something: digits, a sign, a member. */
  readonly isLossy: boolean;
  /** Whether other readers of JSON take it: not with equal names, half characters, or nested too deep. */
  readonly isReadable: boolean;
}

/** The value that a text kept by `keepSource` stands for, with nothing lost; without one, or where nothing would be, the value itself. */
export function exactValue(value: unknown): unknown {
  const source = sourceOf(value);
  return source === undefined || isPlain(value, source) ? value : readExact(source.text).value;
}

/** A parsed value together with its text: kept beside an object, in place of a number that is not all of it. */
export function exactItem(value: unknown, source: JsonSource): unknown {
  if (typeof value === 'object' && value !== null) return keepSource(value, source);
  return typeof value === 'number' ? readExact(source.text).value : value;
}

/** Whether a value says all that its source does, which it was parsed from. */
export function isPlain(value: unknown, source: JsonSource): boolean {
  source.isPlain ??=
    source.depth <= MAX_DEPTH && (isEvidentlyPlain(value, source) || JSON.stringify(value) === source.text);
  return source.isPlain;
}

/**
 * Whether an object is evidently plain, as nearly all log entries are: where a text is just as long as quotes, names and
 * members take, it has no escapes and no member twice. Takes a tenth of the time, and no memory.
 */
function isEvidentlyPlain(value: unknown, { text, depth }: JsonSource): boolean {
  if (depth !== 1 || !isObject(value)) return false;
  let length = 1;
  for (const name in value) {
    const member = value[name];
    const isText = typeof member === 'string';
    // Names that are numbers come first, wherever they stood.
    if (!(isText || member === null) || name.charCodeAt(0) <= NINE) return false;
    length += name.length + 4 + (isText ? member.length + 2 : 4);
  }
  return length === text.length;
}

/** Reads valid JSON without whitespace, member by member. */
export function readExact(text: string): ExactJson {
  const reader = new Reader(text);
  const value = reader.read();
  return { value, isLossy: reader.isLossy, isReadable: reader.isReadable };
}

/** A value as JSON, its tokens as they are. */
export function exactText(value: unknown): string {
  if (value instanceof JsonToken) return value.text;
  if (Array.isArray(value)) return `[${value.map(exactText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${exactText(member)}`).join(',')}}`;
}

/** JSON without whitespace, with the value of every member replaced whose name is chosen, unless it is null. */
export function replaceMembers(text: string, isChosen: (name: string) => boolean, replacement: string): string {
  let replaced = '';
  let from = 0;
  for (const { 0: token, index } of text.matchAll(STRINGS)) {
    const start = index + token.length + 1;
    const isWithin = index < from;
    if (isWithin || text[start - 1] !== ':' || !isChosen(String(JSON.parse(token)))) continue;
    if (text.startsWith('null', start)) continue;
    replaced += text.slice(from, start) + replacement;
    from = endOfValue(text, start);
  }
  return replaced + text.slice(from);
}

/** JSON without whitespace, laid out with an indent of two as `JSON.stringify` does it. */
export function indentJson(text: string): string {
  let indent = '\n';
  return text.replace(LAYOUT, (token) => {
    if (token === ':') return ': ';
    if (token === ',') return `,${indent}`;
    if (token === '{' || token === '[') {
      indent += '  ';
      return token + indent;
    }
    if (token === '}' || token === ']') {
      indent = indent.slice(0, -2);
      return indent + token;
    }
    return token;
  });
}

/** A string of JSON, as a pattern. */
export const STRING = String.raw`"[^"\\]*(?:\\.[^"\\]*)*"`;
const STRINGS = new RegExp(STRING, 'g');
const NINE = 0x39;
const LAYOUT = new RegExp(String.raw`${STRING}|\{\}|\[\]|[{}[\]:,]`, 'g');
const LITERALS: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null };

class Reader extends Scanner {
  isLossy = false;
  isReadable = true;

  read(depth = 0): unknown {
    const first = this.peek();
    if (first !== '{' && first !== '[') return this.#scalar(this.value().text);
    if (depth < MAX_DEPTH) return first === '{' ? this.#object(depth) : this.items(() => this.read(depth + 1));
    this.isReadable = false;
    return new JsonToken(this.value().text);
  }

  #object(depth: number): Record<string, unknown> {
    const members = Object.create(null) as Record<string, unknown>;
    for (const name of this.names()) {
      const isAgain = Object.hasOwn(members, this.#checked(name));
      if (isAgain) this.isReadable = false;
      this.isLossy ||= isAgain || name === '__proto__';
      members[name] = this.read(depth + 1);
    }
    return members;
  }

  #scalar(word: string): unknown {
    if (word.startsWith('"')) return this.#checked(String(JSON.parse(word)));
    const literal = LITERALS[word];
    if (literal !== undefined) return literal;
    const number = Number(word);
    // What JSON.stringify writes for a number, it would write again for the same one.
    if (JSON.stringify(number) === word) return number;
    this.isLossy = true;
    return new JsonToken(word);
  }

  #checked(text: string): string {
    if (/[\uD800-\uDFFF]/u.test(text)) this.isReadable = false;
    return text;
  }
}
