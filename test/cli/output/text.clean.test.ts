import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanText, escapeInJson, isUnsafe } from '../../../src/cli/output/text.ts';
import { cases } from '../../support/cases.ts';

const RUNS = cases(10_000);

// This list of code points is written independently of the code under test.
const DANGEROUS = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x61c, 0x61c],
  [0x180e, 0x180e],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x2069],
  [0xd800, 0xdfff],
  [0xfeff, 0xfeff],
  [0xfff9, 0xfffb],
  [0xe0000, 0xe0fff],
] as const;

function dangersIn(text: string, allowed = ''): string[] {
  return Array.from(text).filter((character) => {
    const code = character.codePointAt(0) ?? 0;
    return !allowed.includes(character) && DANGEROUS.some(([from, to]) => code >= from && code <= to);
  });
}

// Any UTF-16 text, with far more dangerous characters than chance would give.
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(...DANGEROUS.flat()).map((code) => String.fromCodePoint(code)),
      fc.constantFrom(
        '\u001b[31m',
        '\u001b]0;x\u0007',
        '\u009b2J',
        '\r\n',
        '👨\u200d👩\u200d👧',
        '❤\ufe0f',
        'e\u0301',
        '日本',
      ),
      fc.integer({ min: 0, max: 0xff_ff }).map((unit) => String.fromCharCode(unit)),
      fc.string({ unit: 'grapheme' }),
    ),
    { maxLength: 20 },
  )
  .map((parts) => parts.join(''));

describe('cleanText', () => {
  it('R49: cleanText lets no control, bidi or zero-width character and no lone surrogate through', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(dangersIn(cleanText(text))).toEqual([]);
        expect(dangersIn(cleanText(text, 'keep'), '\n')).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  it('cleanText changes nothing the second time', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(cleanText(cleanText(text))).toBe(cleanText(text));
      }),
      { numRuns: cases(500) },
    );
  });

  it('cleanText shows what was there as an escape', () => {
    expect(cleanText('a\u001b[31mb\u202ec\u{e0041}d\ud800e')).toBe(String.raw`a\x1b[31mb\u202ec\u{e0041}d\ud800e`);
  });

  it('cleanText leaves ordinary text of any script alone', () => {
    for (const text of ['plain ~ text', 'Grüße', '日本語', 'e\u0301', 'नमस्ते', '😀 👍🏽', 'עברית'])
      expect(cleanText(text)).toBe(text);
  });

  it('cleanText makes a tab a space and shows or keeps line breaks', () => {
    expect(cleanText('a\tb\r\nc\nd')).toBe(String.raw`a b\r\nc\nd`);
    expect(cleanText('a\tb\r\nc\rd', 'keep')).toBe('a b\nc\\rd');
  });

  it('cleanText takes an emoji sequence apart without leaving marks', () => {
    expect(cleanText('👨\u200d👩\u200d👧 ❤\ufe0f\u200d🔥')).toBe('👨👩👧 ❤🔥');
    expect(cleanText('a\u200db')).toBe(String.raw`a\u200db`);
  });
});

describe('escapeInJson', () => {
  it('R49: escapeInJson keeps JSON equal in data and free of what a terminal obeys', () => {
    fc.assert(
      fc.property(hostile, hostile, (key, value) => {
        const data = { [`k${key}`]: value };
        const text = escapeInJson(JSON.stringify(data, undefined, 2));
        expect(dangersIn(text, '\n')).toEqual([]);
        expect(JSON.parse(text)).toEqual(data);
      }),
      { numRuns: RUNS },
    );
  });
});

describe('isUnsafe', () => {
  it('isUnsafe agrees with the cleaning', () => {
    fc.assert(
      fc.property(hostile, (text) => isUnsafe(text) || dangersIn(text).length === 0),
      { numRuns: cases(500) },
    );
    expect(isUnsafe('日本 text')).toBe(false);
    expect(isUnsafe('a\u202e')).toBe(true);
  });
});
