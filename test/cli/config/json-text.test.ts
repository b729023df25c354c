import { getNodeValue } from 'jsonc-parser';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonFault, positionOf, readJson } from '../../../src/cli/config/json-text.ts';

function read(text: string): { value: unknown } | { fault: string; line: number; column: number } {
  try {
    return { value: getNodeValue(readJson(text)) };
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    return { fault: error.message, ...positionOf(text, error.at) };
  }
}

function builtIn(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

describe('the JSON reader', () => {
  it('the JSON reader reads what JSON.stringify writes', () => {
    expect.hasAssertions();
    const json = fc.jsonValue({ maxDepth: 6 });
    fc.assert(
      fc.property(json, fc.constantFrom(undefined, 2, '\t'), (value, space) => {
        const text = JSON.stringify(value, undefined, space);
        fc.pre(!text.includes('"__proto__"'));
        expect(read(text)).toEqual(builtIn(text));
      }),
    );
  });

  it.each([
    ['{"a": 1,\n "b" 2}', 'a colon should be here', 2, 6],
    ['{"a": 1\n', 'it ends where a comma or a closing brace should be', 2, 1],
    ['{"a": 1,}', 'a name in double quotes should be here', 1, 9],
    ['[1, 2', 'it ends where a comma or a closing bracket should be', 1, 6],
    ['{"a": hello}', 'a value should be here', 1, 7],
    ['{"a": "b', 'a string does not end, or contains an invalid character', 1, 7],
    ['{} {}', 'the end should be here', 1, 4],
    ['{"a": 1, "a": 2}', 'a name is given twice', 1, 10],
    ['{"a": {"__proto__": 1}}', '__proto__ is no name for a setting', 1, 8],
  ])('%j: %s', (text, fault, line, column) => {
    expect(read(text)).toEqual({ fault, line, column });
  });

  it.each([
    ['{"a": 1} // x', { a: 1 }],
    ['// "x\n{}', {}],
    ['{"a": /* one */ 1}', { a: 1 }],
    ['//\r\n{}', {}],
  ])('the JSON reader reads %j where comments are allowed, and refuses it elsewhere', (text, value) => {
    expect(getNodeValue(readJson(text, 'comments'))).toEqual(value);
    expect(read(text)).toMatchObject({ fault: 'comments are not allowed' });
  });

  it('the JSON reader takes no address in a string for a comment', () => {
    expect(getNodeValue(readJson('{"a": "https://x"}', 'comments'))).toEqual({ a: 'https://x' });
  });

  it('the JSON reader refuses a text nested so deeply that reading it would use up the stack', () => {
    expect(read('['.repeat(100_000))).toMatchObject({ fault: 'it is nested too deeply' });
  });
});
