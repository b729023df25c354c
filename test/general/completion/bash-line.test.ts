import { assert, constantFrom, pre, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quoted, readLine, unquote } from '../../../src/general/completion/bash-line.ts';

describe('a bash line', () => {
  it.each([
    ['svc logs ', ['svc', 'logs'], ''],
    ['svc logs --en', ['svc', 'logs'], '--en'],
    ['svc  "a b"\t\'c d\' e\\ f ', ['svc', 'a b', 'c d', 'e f'], ''],
    ['svc --output=js', ['svc'], '--output=js'],
    ['svc a:b=c ', ['svc', 'a:b=c'], ''],
    ['svc $(touch x) `touch` ', ['svc', '$(touch x)', '`touch`'], ''],
    ['svc "$(touch x)" --o', ['svc', '$(touch x)'], '--o'],
    ['svc "open wo', ['svc'], '"open wo'],
    ["svc 'open $(wo", ['svc'], "'open $(wo"],
    ['svc back\\', ['svc'], 'back\\'],
    ['svc logs > out.jsonl --al', ['svc', 'logs'], '--al'],
    ['svc logs 2>errors <in --al', ['svc', 'logs'], '--al'],
    ['svc logs -n 2 ', ['svc', 'logs', '-n', '2'], ''],
    ['', [], ''],
  ])('the line %j is cut into %j and %j', (line, words, raw) => {
    expect(readLine(line)).toEqual({ words, raw, redirected: false });
  });

  it.each([
    ['svc logs > ou', 'ou'],
    ['svc logs 2>', ''],
    ['svc logs >> "a ', '"a '],
  ])('the line %j is about to name a file', (line, raw) => {
    expect(readLine(line)).toMatchObject({ words: ['svc', 'logs'], raw, redirected: true });
  });

  it('a bash line is read whatever it holds', () => {
    const character = constantFrom(...Array.from('a$(`)\'"\\ ;<>|&=:!\n\té'));
    assert(
      property(string({ unit: character }), (line) => {
        const { raw } = readLine(line);
        expect(line.endsWith(raw)).toBe(true);
        unquote(raw);
      }),
    );
  });
});

it.each(['' as const, '"' as const, "'" as const])('quoting with %j open comes back as it was', (open) => {
  assert(
    property(string({ unit: 'grapheme', minLength: 1 }), (text) => {
      const typed = quoted(text, open);
      pre(typed !== undefined);
      expect(unquote(open + typed)).toEqual({ text, open });
    }),
  );
});

it('quoting leaves nothing that bash would act on', () => {
  expect(quoted('$(touch x);`y` a|b', '')).toBe('\\$\\(touch\\ x\\)\\;\\`y\\`\\ a\\|b');
  expect(quoted('$(touch x)"', '"')).toBe('\\$(touch x)\\"');
  expect(quoted("it's", "'")).toBeUndefined();
  expect(unquote(String.raw`"a\"`)).toEqual({ text: 'a"', open: '"' });
  expect(quoted('so!', '"')).toBeUndefined();
});
