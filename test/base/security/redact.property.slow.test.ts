import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../../src/base/security/redact.ts';
import { cardNumber } from '../../support/card-numbers.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { cases } from '../../support/cases.ts';

const SECRET = 'Qw7+/zü"x\\9canary';

function redactorOf(...secrets: string[]) {
  const redactor = createRedactor();
  for (const secret of secrets) redactor.addSecret(secret);
  return redactor;
}

/** Writes a JSON string in which some characters, chosen by a number, are escapes. */
function escaped(value: string, choice: number): string {
  const text = JSON.stringify(value)
    .slice(1, -1)
    .replace(/(?<!\\)[^\\]/g, (unit: string, at: number) =>
      (at + 1) % choice === 0 ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}` : unit,
    );
  return `"${text}"`;
}

describe('escapes in JSON', () => {
  const redactor = redactorOf('mgmt/CANARY+AAAA==', SECRET);
  const address = 'see https://b.example/x?X-Amz-Date=1&X-Amz-Signature=c0ffee';

  it('R06: no escape of any characters, also in JSON inside JSON, lets a secret through, and JSON stays valid', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }), fc.string(), (one, other, before) => {
        const inner = `{"k":${escaped(`${before} ${SECRET} ${address}`, one)}}`;
        const shown = redactor.redact(`{"body":${escaped(inner, other)}}`);
        const { k } = JSON.parse((JSON.parse(shown) as { body: string }).body) as { k: string };
        for (const secret of [SECRET, 'c0ffee']) expect(k).not.toContain(secret);
      }),
      { numRuns: cases(3_000) },
    );
  });
});

describe('any text', () => {
  const piece = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 12 }),
    cardNumber(),
    fc.constantFrom(
      'https://',
      'u:p@',
      '?',
      'sig=',
      '&',
      'Authorization: ',
      '"',
      "'",
      '\\',
      '\\u0026',
      '\\/',
      '\\u0022',
      '%3F',
      '\n',
      ' ',
    ),
    fc.constantFrom(SECRET, Buffer.from(SECRET).toString('base64'), 'SVC-API-KEY', '://', '4111 1111', '[hidden]', '…'),
  );
  const redactor = redactorOf(SECRET);

  it('R06: any text shows no secret and no card number, however they are surrounded', () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }),
        fc.array(piece, { maxLength: 12 }),
        cardNumber(),
        (before, after, number) => {
          const shown = redactor.redact(`${before.join('')} ${number} ${SECRET} ${after.join('')}`);
          expect(shown).not.toContain(SECRET);
          expect(shown).not.toContain(` ${number} `);
        },
      ),
      { numRuns: process.env['SOAK'] === '1' ? 100_000 : 500 },
    );
  });

  it('any text gives the same when run twice', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const once = redactor.redact(pieces.join(''));
        expect(redactor.redact(once)).toBe(once);
      }),
      { numRuns: cases(5_000) },
    );
  });

  it('any text stays linear on hostile text', () => {
    const hostile = [
      '?',
      '%3f',
      '?a&',
      '://',
      '://a:',
      ':\\/\\/a:',
      '"\\/',
      '\\"\\u0041',
      '"\\u0022\\u005c"',
      'http://u:p',
      'authorization',
      'authorization: ',
      'Authorization "',
      "svc-api-key',   ",
      '\\',
      '\\u0026',
      '%25',
      '4',
      '4 ',
      '@',
      '://a:@',
      '=',
      'sig=',
      ' sig=',
      '&x-amz-signature',
    ];
    for (const piece of hostile) {
      // Redaction that is not linear takes minutes here, longer than the time limit of a test.
      expect(redactor.redact(piece.repeat(Math.ceil(300_000 / piece.length)))).not.toBe('');
    }
  });
});

it.each([
  ['a string with millions of escapes', '{"a":"', '\\n\\/', '","b":"key: \\u0073ecret-key-1"}', '"key: [hidden]"'],
  ['a query', 'https://store.example/a?sig=', 'x', ' secret-key-1', '/a?… [hidden]'],
  ['a header', 'cookie: ', 'x', '" secret-key-1', 'cookie: [hidden]" [hidden]'],
])('R06: redaction takes %s of 24 million characters', (_, start, piece, end, redacted) => {
  const text = redactorOf('secret-key-1').redact(start + piece.repeat(24_000_000 / piece.length) + end);
  expect([text.slice(-redacted.length - 1), text.includes('ecret-key')]).toEqual([
    expect.stringContaining(redacted),
    false,
  ]);
});
