import { expect, it } from 'vitest';
import { asciiWidth, loadUnicodeWidth } from '../../../src/cli/output/text-width.ts';

it.each([
  ['whole', 5, 'whole'],
  ['longer', 5, 'long…'],
  ['longer', 1, '…'],
])('%s is cut to %i columns as %s, whatever measures it', async (text, width, cut) => {
  const unicodeWidth = await loadUnicodeWidth();
  expect([asciiWidth.cut(text, width), unicodeWidth.cut(text, width)]).toEqual([cut, cut]);
});

it('a character of two columns is left out where only one is free', async () => {
  const unicodeWidth = await loadUnicodeWidth();
  expect(unicodeWidth.cut('東京都庁', 4)).toBe('東…');
});
