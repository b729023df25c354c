import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cellsOf, cellText, rowOutcomeOf } from '../../../src/emulator/account-updater/process-file.ts';
import { cardToken, DEFAULT_SEED, derivedToken, monthToken, originOfToken } from '../../../src/emulator/seed/logs.ts';
import { exampleRequestFile, sandboxCards } from '../../../src/emulator/vault/cards.ts';
import { MONTH_CARDS, TEST_CARDS } from '../../../src/emulator/seed/test-cards.ts';
import { RESULT_CODES } from '../../../src/schema/account-updater-files.ts';
import { cases } from '../../support/cases.ts';

const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('test cards', () => {
  it('test cards have one token each, and show no whole number', () => {
    const cards = sandboxCards();
    expect(cards).toHaveLength(TEST_CARDS.length);
    expect(new Set(cards.map((card) => card.token)).size).toBe(cards.length);
    expect(cards[0]).toMatchObject({ number: '411111******1111', network: 'visa', result_code: 'UPD_PAN' });
    expect(cards.find((card) => card.network === 'amex')?.number).toBe('378282*****0005');
    for (const { token, number } of cards) {
      expect(token).toMatch(GUID);
      expect(number).toMatch(/^\d{6}\*{5,6}\d{4}$/);
    }
  });

  it('test cards cover every result code but the one for tokens that are unknown', () => {
    const codes = new Set(sandboxCards().map((card) => card.result_code));
    expect(RESULT_CODES.filter((code) => !codes.has(code))).toEqual(['ERR_INVALID_TOKEN']);
  });

  it('the shipped example file is a month of other cards, of which one in fifty has an error', () => {
    const path = new URL('../../../src/sandbox/data/tokens.csv', import.meta.url);
    const [header, ...rows] = readFileSync(path, 'utf8').trimEnd().split('\n');
    expect(header).toBe(exampleRequestFile().split('\n')[0]);
    const tokens = rows.map((row) => row.split(',')[0] ?? '');
    expect(tokens).toEqual(MONTH_CARDS.map((_, row) => monthToken(DEFAULT_SEED, row)));
    const origins = tokens.map((token) => originOfToken(DEFAULT_SEED, token)?.index ?? -1);
    expect(origins).toEqual(MONTH_CARDS);
    const codes = origins.flatMap((index) => TEST_CARDS[index]?.code ?? []);
    expect(codes.filter((code) => code.startsWith('ERR_'))).toHaveLength(rows.length / 50);
    expect(codes.length).toBeLessThan(rows.length / 5);
    const listed = new Set(sandboxCards().map(({ token }) => token));
    expect(tokens.filter((token) => listed.has(token))).toEqual([]);
  });
});

describe('tokens', () => {
  const seed = fc.integer({ min: 0, max: 2 ** 31 - 1 });
  const job = fc.integer({ min: 1, max: 2 ** 24 - 1 });
  const row = fc.integer({ min: 0, max: 2 ** 24 - 1 });
  const card = fc.integer({ min: 0, max: TEST_CARDS.length - 1 });

  it('tokens tell what they stand for, seeded or made by a job', () => {
    fc.assert(
      fc.property(seed, job, row, card, (seed, job, row, index) => {
        const token = derivedToken(seed, job, row, index);
        expect(token).toMatch(GUID);
        expect(originOfToken(seed, token)).toEqual({ kind: 'derived', index, job, row });
        expect(originOfToken(seed, cardToken(seed, index))).toEqual({ kind: 'seeded', index });
      }),
      { numRuns: cases(1000) },
    );
  });

  it('tokens are unknown when altered, made up, or of another seed', () => {
    fc.assert(
      fc.property(seed, job, row, card, fc.nat(35), (seed, job, row, index, place) => {
        const token = derivedToken(seed, job, row, index);
        const digit = token[place] === '0' ? '1' : '0';
        const altered = token.slice(0, place) + digit + token.slice(place + 1);
        expect(originOfToken(seed, altered)).toBeUndefined();
        expect(originOfToken(seed + 1, token)).toBeUndefined();
      }),
      { numRuns: cases(1000) },
    );
    fc.assert(fc.property(fc.oneof(fc.uuid(), fc.string()), (text) => originOfToken(1, text) === undefined));
  });
});

describe('the outcome of a row', () => {
  const card = {
    year: '2023',
    month: '12',
    update: { code: 'UPD_EXP_DATE', newYear: '2026', newMonth: '12' },
    refreshed: false,
  } as const;
  const row = { token: 't', year: '', month: '', merchant: '' };
  const code = (change: Partial<typeof row>, of: Parameters<typeof rowOutcomeOf>[1] = card) =>
    rowOutcomeOf({ ...row, ...change }, of)?.code;

  it('the outcome of a row is an unknown token before all else', () => {
    expect(rowOutcomeOf({ ...row, merchant: 'M1' }, undefined)?.code).toBe('ERR_INVALID_TOKEN');
  });

  it('the outcome of a row is an error of the configuration where that does not take the merchant', () => {
    expect(rowOutcomeOf({ ...row, merchant: 'M1' }, card, false)?.code).toBe('ERR_INVALID_CONFIG');
    expect(rowOutcomeOf({ ...row, merchant: 'M1' }, card, true)?.code).toBe('UPD_EXP_DATE');
  });

  it('the outcome of a row needs an expiration date on the row or the token', () => {
    const bare = { ...card, year: undefined, month: undefined };
    expect(code({})).toBe('UPD_EXP_DATE');
    expect(code({}, bare)).toBe('ERR_INVALID_EXP_DATE');
    expect(code({ year: '27' }, bare)).toBe('ERR_INVALID_EXP_DATE');
    expect(code({ year: '27', month: '01' }, bare)).toBe('UPD_EXP_DATE');
    expect(code({ month: '13' })).toBe('ERR_INVALID_EXP_DATE');
    expect(code({ year: '2027' })).toBe('ERR_INVALID_EXP_DATE');
  });

  it('the outcome of a row is a new token for a correction, and none for a conversion that changes nothing', () => {
    const known = { year: '2023', month: '12', refreshed: false };
    expect(rowOutcomeOf(row, { ...known, update: { code: 'UPD_CORRECTED' } })?.newToken).toBe(true);
    expect(rowOutcomeOf(row, { ...known, update: { code: 'UPD_BRAND_CONV' } })?.newToken).toBe(false);
    expect(rowOutcomeOf(row, { ...known, update: { code: 'UPD_BRAND_CONV', newNumber: '4' } })?.newToken).toBe(true);
    expect(rowOutcomeOf(row, { ...known, update: { code: 'WRN_OPT_OUT' } })?.newToken).toBe(false);
    expect(rowOutcomeOf(row, known)).toBeUndefined();
    expect(rowOutcomeOf(row, { ...card, refreshed: true })).toBeUndefined();
  });
});

it('cells are read as they were written', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string().map((text) => text.replaceAll(/[\r\n]/g, '')),
        { minLength: 1 },
      ),
      (cells) => {
        expect(cellsOf(cells.map(cellText).join(','))).toEqual(cells);
      },
    ),
    { numRuns: cases(1000) },
  );
});

it('cells are refused when a quote stays open or stands amid a cell', () => {
  for (const line of ['"a', 'a"b,c', '"a"b,c', 'a,"', '"""']) expect([line, cellsOf(line)]).toEqual([line, undefined]);
  expect(cellsOf('"",')).toEqual(['', '']);
});
