import * as fc from 'fast-check';

/** Numbers that card networks publish for testing, at least one for each network. */
export const PUBLISHED_TEST_CARDS = [
  '4111111111111111',
  '4012888888881881',
  '4222222222222',
  '5555555555554444',
  '5105105105105100',
  '2223003122003222',
  '378282246310005',
  '371449635398431',
  '6011111111111117',
  '30569309025904',
  '38520000023237',
  '3566002020360505',
  '6200000000000005',
  '6759649826438453',
  '122000000000003',
] as const;

/**
 * Digits of the Visa test cards as a message could show them: the beginning, a group, or four that stand alone. A random id,
 * a port and the number of a process do not look so.
 */
export const SHOWN_DIGITS = /411111|1{7}|424242|[14]\d{3}[ -](?:1111|4242)|(?<![\w-])(?:4111|1111|4242)(?![\w-])/;

const ISSUED: readonly [prefix: string, lengths: readonly number[]][] = [
  ['4', [13, 16, 19]],
  ['51', [16]],
  ['55', [16]],
  ['2221', [16]],
  ['2720', [16]],
  ['34', [15]],
  ['37', [15]],
  ['6011', [16, 19]],
  ['65', [16]],
  ['644', [16]],
  ['30', [14, 16]],
  ['36', [14, 19]],
  ['3528', [16]],
  ['3589', [16]],
  ['62', [16, 17, 18, 19]],
  ['81', [16]],
  ['5018', [13, 16, 19]],
  ['6304', [13, 16, 19]],
];

/** Returns `digits` with their Luhn digit. It shares no code with what the tests check. */
export function withCheckDigit(digits: string): string {
  const doubled = ['0', '2', '4', '6', '8', '1', '3', '5', '7', '9'];
  const sum = Array.from(digits)
    .toReversed()
    .reduce((total, digit, at) => total + Number(at % 2 === 0 ? doubled[Number(digit)] : digit), 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

/** Generates card numbers in the ranges of known networks. */
export function cardNumber(): fc.Arbitrary<string> {
  const ranges = ISSUED.flatMap(([prefix, lengths]) => lengths.map((length) => ({ prefix, length })));
  const digits = fc.array(fc.nat(9), { minLength: 19, maxLength: 19 });
  return fc
    .tuple(fc.constantFrom(...ranges), digits)
    .map(([{ prefix, length }, rest]) => withCheckDigit((prefix + rest.join('')).slice(0, length - 1)));
}

const ZEROS = [0x30, 0xff10, 0x660, 0x966, 0x1d7ce, 0x1d7d8, 0x1d7f6, 0x1e950];
const GAPS = [
  '',
  '',
  '',
  ' ',
  '-',
  '.',
  '\u00a0',
  '\u2013',
  '\u2010',
  '_',
  '/',
  '\u200b',
  '\u2060',
  '\u00ad',
  '\u3000',
];

/** The number of digits in leading zeros, a date and a card number together. */
const MAX_DIGITS = 40;

/**
 * Generates card numbers as someone might hide them in a cell: with digits of other scripts, separators anywhere, or
 * invisible characters.
 */
export function disguised(numbers = cardNumber()): fc.Arbitrary<string> {
  const look = fc.record({ zero: fc.constantFrom(...ZEROS), mixed: fc.boolean() });
  const gaps = fc.array(fc.constantFrom(...GAPS), { minLength: MAX_DIGITS, maxLength: MAX_DIGITS });
  return fc.tuple(numbers, look, gaps).map(([number, { zero, mixed }, gaps]) =>
    Array.from(number)
      .map((digit, at) => {
        const from = mixed && at % 3 === 0 ? 0x30 : zero;
        return (at === 0 ? '' : gaps[at]) + String.fromCodePoint(from + Number(digit));
      })
      .join(''),
  );
}

/** Generates one to four card numbers in a row, with or without zeros before them. */
export function padded(): fc.Arbitrary<string> {
  return fc
    .tuple(fc.nat(8), fc.array(cardNumber(), { minLength: 1, maxLength: 4 }))
    .map(([zeros, numbers]) => `${'0'.repeat(zeros)}${numbers.join('')}`);
}

/** Generates card numbers next to a date of 2020 to 2049, with or without zeros before them. */
export function dated(): fc.Arbitrary<string> {
  const parts = fc.record({
    number: cardNumber(),
    year: fc.integer({ min: 20, max: 49 }).map(String),
    month: fc.integer({ min: 1, max: 12 }).map(twoDigits),
    day: fc.integer({ min: 1, max: 31 }).map(twoDigits),
    zeros: fc.constantFrom('', '', '0', '0000'),
  });
  const forms = fc.constantFrom('nMY', 'nYM', 'nM20Y', 'n20YM', '20YMn', '20YMDn');
  return fc.tuple(parts, forms).map(([{ number, year, month, day, zeros }, form]) => {
    const signs = new Map(Object.entries({ n: number, Y: year, M: month, D: day }));
    return zeros + Array.from(form, (sign) => signs.get(sign) ?? sign).join('');
  });
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
