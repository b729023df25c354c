import { describe, expect, it } from 'vitest';
import { moment } from '../../../src/cli/app/value-parsers.ts';

const NOW = Date.parse('2026-11-21T12:30:00Z');

/** Parses a time as of NOW, and returns it in ISO 8601. */
function parsedTime(text: string): string {
  return new Date(moment(text)(NOW)).toISOString();
}

describe('the parser of times', () => {
  it.each([
    ['2026-01-31T09:00:00Z', '2026-01-31T09:00:00.000Z'],
    ['2026-01-31T09:00:00+02:00', '2026-01-31T07:00:00.000Z'],
    ['2026-01-31t09:00:00.1234567z', '2026-01-31T09:00:00.123Z'],
    ['2026-01-31 09:00:00-00:30', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2h', '2026-11-21T10:30:00.000Z'],
    ['1h30m', '2026-11-21T11:00:00.000Z'],
    ['7d', '2026-11-14T12:30:00.000Z'],
    ['1w', '2026-11-14T12:30:00.000Z'],
    ['today', '2026-11-21T00:00:00.000Z'],
    ['now', '2026-11-21T12:30:00.000Z'],
    ['yesterday', '2026-11-20T00:00:00.000Z'],
  ])('the parser of times accepts %s', (text, expected) => {
    expect(parsedTime(text)).toBe(expected);
  });

  it.each([
    '',
    ' ',
    'tomorrow',
    '2026-02-30',
    '2026-13-01',
    '2025-02-29',
    '2026-01-31T24:00:00Z',
    '2026-01-31T09:60:00Z',
    '1700000000',
    '2h ago',
    '-2h',
    '2 h',
    '1m1h',
    '31.01.2026',
    '2026-01-31T09:00:00+24:00',
  ])('the parser of times refuses %j', (text) => {
    expect(() => moment(text)).toThrow(/^must be a time/);
  });

  it.each(['10:00', '9:30:00', '2026-01-31T10:00:00', '2026-01-31 10:00', '2026-01-31T10:00:00.5'])(
    'the parser of times refuses %s, which has no offset, and shows how to write one',
    (text) => {
      expect(() => moment(text)).toThrow(
        'must be a time with its date and offset: 2026-01-31T10:00:00Z (UTC) or 2026-01-31T10:00:00+02:00',
      );
    },
  );
});
