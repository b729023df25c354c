import { describe, expect, it } from 'vitest';
import { moment, momentAhead, month, withDates } from '../../../src/cli/app/moment.ts';
import { FakeClock } from '../../support/clock.ts';
import { svcHere } from '../../support/run-here.ts';

const NOW = Date.parse('2026-11-21T12:30:00Z');

/** Parses a time as of NOW, and returns it in ISO 8601. */
function parsedTime(text: string): string {
  return new Date(moment(text)(NOW)).toISOString();
}

describe('the parser of months', () => {
  it.each([
    ['last', '2026-10-01', '2026-11-01'],
    ['this', '2026-11-01', '2026-12-01'],
    ['2025-12', '2025-12-01', '2026-01-01'],
  ])('the parser of months takes %s for a whole month, in UTC', (typed, since, until) => {
    expect(month(typed)(NOW)).toEqual({ since: Date.parse(since), until: Date.parse(until) });
  });

  it('the parser of months takes last for December in January', () => {
    expect(month('last')(Date.parse('2027-01-31T23:59:59Z')).since).toBe(Date.parse('2026-12-01'));
  });

  it.each(['2026-13', '2026-1', '11', 'next', ''])('the parser of months refuses %j', (typed) => {
    expect(() => month(typed)).toThrow('must be a month: last, this or 2026-11');
  });
});

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
    ['10:00', '2026-11-21T10:00:00.000Z'],
    ['12:30', '2026-11-21T12:30:00.000Z'],
    ['12:31', '2026-11-20T12:31:00.000Z'],
    ['9:30:05', '2026-11-21T09:30:05.000Z'],
    ['13:00+01:00', '2026-11-21T12:00:00.000Z'],
    ['00:30+01:00', '2026-11-20T23:30:00.000Z'],
    ['yesterday 22:00', '2026-11-20T22:00:00.000Z'],
    ['today 22:00', '2026-11-21T22:00:00.000Z'],
    ['2026-01-31 10:00', '2026-01-31T10:00:00.000Z'],
    ['2026-01-31T9:30:05', '2026-01-31T09:30:05.000Z'],
    ['14800000w', '1970-01-01T00:00:00.000Z'],
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
    '10 minutes before',
    '2026-02-30 10:00',
    '24:00',
    '10:60',
    '10:00+24:00',
    'tomorrow 10:00',
    '2026-01-31T10:00:00.5',
    '-2h',
    '2 h',
    '1m1h',
    '31.01.2026',
    '2026-01-31T09:00:00+24:00',
  ])('the parser of times refuses %j', (text) => {
    expect(() => moment(text)).toThrow(/^must be a time/);
  });

  it('a time that lies ahead is the next such time of day', () => {
    expect(new Date(momentAhead('10:00')(NOW)).toISOString()).toBe('2026-11-22T10:00:00.000Z');
    expect(new Date(momentAhead('13:00')(NOW)).toISOString()).toBe('2026-11-21T13:00:00.000Z');
  });
});

describe('times of day on a command line', () => {
  it.each([
    ['2h', '12:00', '2026-11-21T12:00:00.000Z'],
    ['3d', '12:00', '2026-11-19T12:00:00.000Z'],
    ['22:00', '06:00', '2026-11-21T06:00:00.000Z'],
    [undefined, '12:00', '2026-11-21T12:00:00.000Z'],
  ])('with --since %s, --until %s is %s', (since, until, expected) => {
    const typed = { since: since === undefined ? undefined : moment(since), until: moment(until) };
    const dated = withDates(typed, NOW, () => undefined);
    expect(new Date(dated.until(NOW + 1)).toISOString()).toBe(expected);
  });

  it('a time of day is shown with its date, and a whole time is not', async () => {
    const { stderr } = await svcHere(['logs', '--sandbox', '--since', 'yesterday 22:00', '--until', '06:00'], {
      clock: new FakeClock({ start: NOW }),
    });
    expect(stderr).toContain('since: 2026-11-20 22:00Z\nuntil: 2026-11-21 06:00Z\n');
    const whole = await svcHere(['logs', '--sandbox', '--since', '2026-11-21'], {
      clock: new FakeClock({ start: NOW }),
    });
    expect(whole.stderr).not.toContain('since:');
  });
});
