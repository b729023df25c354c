import * as fc from 'fast-check';

const NUMBERS = ['0', '-0', '1.10', '9007199254740993', '1E400', '-1e-7', '1e2', '0.1', '12', '123456789012345678'];
const STRINGS = ['""', '"a"', '"\\/"', '"\\u00e9"', '"é日本"', '"\\"\\\\"', '"a,b:{[]}"', '"\\ud83d\\ude00"', '" x "'];
const NAMES = [...STRINGS, '"__proto__"', '"constructor"', '"toJSON"', '"2"', '"1"', '"created_at"'];
const SPACE = fc.constantFrom('', '', '', ' ', '\n', ' \t\r\n');

/** A JSON text, with and without whitespace between its tokens. */
export interface JsonText {
  readonly spaced: string;
  readonly plain: string;
}

const words = fc.constantFrom(...NUMBERS, ...STRINGS, 'true', 'false', 'null').map(token);

/** JSON texts with what a parser loses: digits, signs, duplicate and odd names. */
export const { object: objectText, value: valueText } = fc.letrec<{ value: JsonText; object: JsonText }>((tie) => ({
  value: fc.oneof({ maxDepth: 3, withCrossShrink: true }, words, words, list(tie('value')), tie('object')),
  object: fc
    .array(fc.tuple(fc.constantFrom(...NAMES).map(token), SPACE, tie('value')), { maxLength: 5 })
    .chain((members) =>
      joined(
        members.map(([name, space, value]) => both(name, ':', space, value)),
        '{}',
      ),
    ),
}));

function list(item: fc.Arbitrary<JsonText>): fc.Arbitrary<JsonText> {
  return fc.array(item, { maxLength: 4 }).chain((items) => joined(items, '[]'));
}

function token(text: string): JsonText {
  return { spaced: text, plain: text };
}

function both(name: JsonText, mark: string, space: string, value: JsonText): JsonText {
  return { spaced: name.spaced + space + mark + space + value.spaced, plain: name.plain + mark + value.plain };
}

function joined(parts: readonly JsonText[], [open, close]: string): fc.Arbitrary<JsonText> {
  return SPACE.map((space) => ({
    spaced: open + space + parts.map(({ spaced }) => spaced + space).join(`,${space}`) + close,
    plain: open + parts.map(({ plain }) => plain).join(',') + close,
  }));
}
