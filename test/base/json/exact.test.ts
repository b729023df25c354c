import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  exactText,
  exactValue,
  indentJson,
  isPlain,
  JsonToken,
  readExact,
  replaceMembers,
} from '../../../src/base/json/exact.ts';
import { keepSource, listSource, MAX_DEPTH, sourceFrom } from '../../../src/base/json/source.ts';
import { valueText } from '../../support/json-text.ts';
import { cases } from '../../support/cases.ts';

const isUrl = (name: string): boolean => name === 'url';

describe('the text of JSON', () => {
  it('R60: the text of JSON is kept without its whitespace, token for token', () => {
    fc.assert(
      fc.property(valueText, ({ spaced, plain }) => {
        expect(sourceFrom(` ${spaced}\n`).text).toBe(plain);
      }),
      { numRuns: cases(2_000) },
    );
  });

  it('R60: the text of JSON is sliced into the items of a list, wherever the list stands in the response', () => {
    fc.assert(
      fc.property(fc.array(valueText, { maxLength: 5 }), valueText, fc.nat(2), (items, other, form) => {
        const list = `[${items.map(({ spaced }) => spaced).join(' , ')} ]`;
        const body = [
          list,
          `{"other" : ${other.spaced}, "data": ${list}, "pagination":{"next":null}}`,
          `{"data":[1], "d\\u0061ta" : ${list}}`,
        ][form];
        expect(listSource(body ?? '')?.items.map(({ text }) => text)).toEqual(items.map(({ plain }) => plain));
      }),
      { numRuns: cases(1_000) },
    );
  });

  it('R60: the text of JSON is plain exactly when JSON.stringify would write it again', () => {
    const name = fc.constantFrom('a', 'actor_id', 'b"', '1', '__proto__', '', 'é');
    const members = fc.array(
      fc.tuple(name, fc.oneof(fc.constant(null), fc.string(), fc.constantFrom('\n', '/', '\u2028'))),
    );
    fc.assert(
      fc.property(members, fc.boolean(), (list, isEscaped) => {
        const written = list.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',');
        const text = `{${isEscaped ? written.replaceAll('/', String.raw`\/`) : written}}`;
        const value: unknown = JSON.parse(text);
        expect(isPlain(value, sourceFrom(text))).toBe(JSON.stringify(value) === text);
      }),
      { numRuns: cases(2_000) },
    );
  });

  it('the text of JSON knows how deep it is nested, and the list without its items', () => {
    const deep = '['.repeat(3_000) + ']'.repeat(3_000);
    expect(sourceFrom(deep).depth).toBe(3_000);
    expect(sourceFrom('"[["').depth).toBe(0);
    expect(listSource(`{"data":[${deep}],"p":{"a":[1]}}`)).toMatchObject({ depth: 3, items: [{ depth: 3_000 }] });
    expect(listSource('{"data":{}}')).toBeUndefined();
    expect(listSource('{"data":[1],"data":2}')).toBeUndefined();
  });
});

describe('an exact reading of JSON', () => {
  it('R60: an exact reading of JSON keeps numbers as they were written, and every member', () => {
    const text = '{"a":9007199254740993,"b":1.10,"c":1E400,"d":-0,"__proto__":{"e":1},"f":[1.0]}';
    expect(exactText(readExact(text).value)).toBe(text);
    expect(readExact(text).isLossy).toBe(true);
    const parsed = JSON.parse(text) as object;
    expect(exactValue(keepSource(parsed, sourceFrom(text)))).toMatchObject({ a: new JsonToken('9007199254740993') });
  });

  it('R61: an exact reading of JSON says what other readers of JSON would not take', () => {
    const unreadable = [
      '{"a":1,"a":2}',
      '{"a":"\\ud800"}',
      '{"\\udc00":1}',
      '['.repeat(MAX_DEPTH + 1) + ']'.repeat(MAX_DEPTH + 1),
    ];
    for (const text of unreadable) expect(readExact(text).isReadable).toBe(false);
    for (const text of ['{"a":{"a":1}}', '{"a":"\\ud83d\\ude00"}', '{"__proto__":1}', '1E400'])
      expect(readExact(text).isReadable).toBe(true);
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    expect(exactText(readExact(deep).value)).toBe(deep);
  });

  it('an exact reading of JSON lays out as JSON.stringify does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(indentJson(JSON.stringify(value))).toBe(JSON.stringify(value, undefined, 2));
      }),
    );
  });

  it('an exact reading of JSON replaces members by name at any depth, each of several with the same name', () => {
    expect(replaceMembers('{"url":"a","x":[{"\\u0075rl":{"url":1}},"url",{"url":null}],"url":"b"}', isUrl, '0')).toBe(
      '{"url":0,"x":[{"\\u0075rl":0},"url",{"url":null}],"url":0}',
    );
  });
});
