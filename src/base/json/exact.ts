import { isObject } from '../../schema/json-value.ts';
import { ownMember } from '../../schema/own-member.ts';
import {
  endOfString,
  endOfValue,
  type JsonSource,
  keepSource,
  MAX_DEPTH,
  Scanner,
  sourceFrom,
  sourceOf,
} from './source.ts';

// Reads JSON without loss: long numbers and repeated members stay as they were sent. Values that JSON.parse reads without loss
// (`isPlain`) skip this reader.

/** A part of JSON kept as text: a number that JavaScript would write differently, or a value nested too deeply. */
export class JsonToken {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  get isNumber(): boolean {
    return !/^[[{]/.test(this.text);
  }
}

/** The result of reading a text member by member. */
export interface ExactJson {
  /** The value. Objects have no prototype, so that `__proto__` is an ordinary member. The last of equal names counts. */
  readonly value: unknown;
  /** Whether `JSON.parse` would lose digits, a sign or a member. */
  readonly isLossy: boolean;
  /** Whether other JSON readers accept the text: no equal names, no lone surrogates, no extreme nesting. */
  readonly isReadable: boolean;
}

/** Reads a value again, without loss, from the text kept by `keepSource`. Returns the value itself if nothing was lost. */
export function exactValue(value: unknown): unknown {
  const source = sourceOf(value);
  return source === undefined || isPlain(value, source) ? value : readExact(source.text).value;
}

/** Returns the members of a value as they were sent, without loss. Any other value than an object has no members. */
export function exactMembers(value: object): Readonly<Record<string, unknown>> {
  const exact = exactValue(value);
  return isObject(exact) && !(exact instanceof JsonToken) ? exact : {};
}

/** Returns a member of an object. A member that is an object gets its part of the kept text. */
export function memberWithText<T extends object, K extends keyof T & string>(value: T, name: K): T[K] {
  const member = value[name];
  if (typeof member !== 'object' || member === null) return member;
  return keepSource(member, sourceFrom(exactText(exactMembers(value)[name])));
}

/** Combines a parsed value with its text: keeps the text beside an object, and replaces a number that lost digits. */
export function exactItem(value: unknown, source: JsonSource): unknown {
  if (typeof value === 'object' && value !== null) return keepSource(value, source);
  return typeof value === 'number' ? readExact(source.text).value : value;
}

/** Whether a value contains everything in the text that it was parsed from. */
export function isPlain(value: unknown, source: JsonSource): boolean {
  source.isPlain ??=
    source.depth <= MAX_DEPTH && (isEvidentlyPlain(value, source) || JSON.stringify(value) === source.text);
  return source.isPlain;
}

/**
 * Whether the length of a text proves that its object is plain. A text exactly as long as its quotes, names and values
 * contains no escapes and no repeated members. This test is ten times as fast, and nearly all log entries pass.
 */
function isEvidentlyPlain(value: unknown, { text, depth }: JsonSource): boolean {
  if (depth !== 1 || !isObject(value)) return false;
  let length = 1;
  for (const name in value) {
    const member = value[name];
    const isText = typeof member === 'string';
    // JavaScript moves members with numeric names to the front.
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

/** Writes a value as JSON, with its tokens unchanged. */
export function exactText(value: unknown): string {
  if (value instanceof JsonToken) return value.text;
  if (Array.isArray(value)) return `[${value.map(exactText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${exactText(member)}`).join(',')}}`;
}

/** Replaces the values of chosen members in JSON without whitespace, except null. */
export function replaceMembers(text: string, isChosen: (name: string) => boolean, replacement: string): string {
  let replaced = '';
  let from = 0;
  let end = 0;
  for (let start = text.indexOf('"'); start !== -1; start = text.indexOf('"', end)) {
    end = endOfString(text, start);
    if (text[end] !== ':' || !isChosen(String(JSON.parse(text.slice(start, end))))) continue;
    if (text.startsWith('null', end + 1)) continue;
    replaced += text.slice(from, end + 1) + replacement;
    from = end = endOfValue(text, end + 1);
  }
  return replaced + text.slice(from);
}

/** Indents JSON without whitespace by two, as `JSON.stringify` does. */
export function indentJson(text: string): string {
  let indented = '';
  let from = 0;
  let indent = '\n';
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '"') at = endOfString(text, at) - 1;
    else if (sign === ':' || sign === ',') {
      indented += text.slice(from, at + 1) + (sign === ':' ? ' ' : indent);
      from = at + 1;
    } else if (sign === '{' || sign === '[') {
      // An empty object or list stays on its line.
      if (text[at + 1] === '}' || text[at + 1] === ']') at += 1;
      else {
        indent += '  ';
        indented += text.slice(from, at + 1) + indent;
        from = at + 1;
      }
    } else if (sign === '}' || sign === ']') {
      indent = indent.slice(0, -2);
      indented += text.slice(from, at) + indent;
      from = at;
    }
  }
  return indented + text.slice(from);
}

const NINE = 0x39;
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
    const literal = ownMember(LITERALS, word);
    if (literal !== undefined) return literal;
    const number = Number(word);
    // A number that JSON.stringify writes identically loses nothing.
    if (JSON.stringify(number) === word) return number;
    this.isLossy = true;
    return new JsonToken(word);
  }

  #checked(text: string): string {
    if (/[\uD800-\uDFFF]/u.test(text)) this.isReadable = false;
    return text;
  }
}
