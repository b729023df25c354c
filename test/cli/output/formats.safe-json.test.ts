import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { containsCardNumber } from '../../../src/base/security/card-number.ts';
import { jsonHasCardNumber, safeJson } from '../../../src/cli/output/formats.ts';
import { valueText } from '../../support/json-text.ts';
import { cases } from '../../support/cases.ts';

const CARD = '4111111111111111';
const DISGUISES = [
  CARD,
  `-${CARD}`,
  `"${CARD}"`,
  `"4111 1111 1111 1111"`,
  String.raw`"\u0034111111111111111"`,
  String.raw`"4111\u00201111\u00201111\u00201111"`,
  String.raw`"4111\/1111\/1111\/1111"`,
  `"\\"${CARD}\\""`,
  `{"${CARD}":1}`,
  `[1,${CARD}]`,
  `${CARD}e2`,
];

it('R60: JSON that is shown is the very text where nothing in it is dangerous', () => {
  fc.assert(
    fc.property(valueText, ({ plain }) => {
      expect(safeJson(plain)).toBe(plain);
    }),
    { numRuns: cases(2_000) },
  );
});

it('R06: JSON that is shown masks card numbers however they are written, and stays JSON', () => {
  for (const text of DISGUISES) {
    const shown = safeJson(`{"before":1.10,"card":${text}}`);
    expect(shown).toContain('{"before":1.10,"card":');
    expect(containsCardNumber(JSON.stringify(JSON.parse(shown)).replaceAll(/\\(.)/g, '$1'))).toBe(false);
    expect(JSON.stringify(JSON.parse(shown))).toContain('1111');
    expect(jsonHasCardNumber(text)).toBe(true);
  }
  expect(safeJson(`{"seq":${CARD}}`)).toBe('{"seq":"411111••••••1111"}');
  expect(jsonHasCardNumber(String.raw`{"a":"\u202e\n 12"}`)).toBe(false);
});

it('R49: JSON that is shown writes characters that act or hide as their escapes', () => {
  expect(safeJson('{"a":"\u202e\u200b\u009b","b":"é"}')).toBe(String.raw`{"a":"\u202e\u200b\u009b","b":"é"}`);
});
