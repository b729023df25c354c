import { afterEach, describe, expect, it, vi } from 'vitest';
import { formatDuration, formatTime, parseTime, timeAndHere } from '../../../src/cli/output/time.ts';

const AT = '2026-11-21T11:44:56.1234567Z';
const NOW = Date.parse('2026-11-21T12:00:00Z');
const zone = process.env['TZ'];

afterEach(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

it('parseTime parses each time of a page once, however often it is asked', async () => {
  // Other tests may have left times in the module that this file shares with them.
  vi.resetModules();
  const fresh = await import('../../../src/cli/output/time.ts');
  const page = Array.from({ length: 100 }, (_, at) => new Date(NOW + at * 1000).toISOString());
  const parse = vi.spyOn(Date, 'parse');
  for (let step = 0; step < 4; step += 1)
    expect(page.map(fresh.parseTime)).toEqual(page.map((_, at) => NOW + at * 1000));
  expect(parse).toHaveBeenCalledTimes(100);
  parse.mockRestore();
});

describe('formatTime', () => {
  it('formatTime shows UTC to the second, whatever offset the service used', () => {
    expect(formatTime(AT, 'utc', NOW)).toBe('2026-11-21 11:44:56Z');
    expect(formatTime('2026-11-21T13:44:56+02:00', 'utc', NOW)).toBe('2026-11-21 11:44:56Z');
  });

  it('formatTime shows local time with the offset that holds on that day', () => {
    process.env['TZ'] = 'Europe/Berlin';
    expect(formatTime(AT, 'local', NOW)).toBe('2026-11-21 12:44:56+01:00');
    expect(formatTime('2026-07-01T00:00:00Z', 'local', NOW)).toBe('2026-07-01 02:00:00+02:00');
    process.env['TZ'] = 'America/St_Johns';
    expect(formatTime(AT, 'local', NOW)).toBe('2026-11-21 08:14:56-03:30');
  });

  it('formatTime reads a time without an offset as UTC, in any zone', () => {
    process.env['TZ'] = 'Asia/Tokyo';
    expect(formatTime('2026-11-21T11:44:56.1234567', 'utc', NOW)).toBe('2026-11-21 11:44:56Z');
    expect(formatTime('2026-11-21 11:44:56', 'utc', NOW)).toBe('2026-11-21 11:44:56Z');
    expect(formatTime('2026-11-21', 'utc', NOW)).toBe('2026-11-21 00:00:00Z');
  });

  it('formatTime shows a distance in one unit, before and after', () => {
    expect(formatTime(AT, 'relative', NOW)).toBe('15m ago');
    expect(formatTime('2026-11-23T12:00:01Z', 'relative', NOW)).toBe('in 2d');
    expect(formatTime('2026-11-21T12:00:00.500Z', 'relative', NOW)).toBe('now');
  });

  it('formatTime gives text that is no time back as it is', () => {
    for (const text of ['soon', '', '12', '2026-13-45T99:00:00Z', 'Nov 21 2026'])
      expect(formatTime(text, 'utc', NOW)).toBe(text);
    expect(parseTime('soon')).toBeUndefined();
  });
});

describe('timeAndHere', () => {
  it('timeAndHere shows the time of this machine beside UTC where the two differ', () => {
    const at = Date.parse('2026-11-23T03:00:00Z');
    process.env['TZ'] = 'UTC';
    expect(timeAndHere(at)).toBe('2026-11-23 03:00Z');
    process.env['TZ'] = 'Europe/Berlin';
    expect(timeAndHere(at)).toBe('2026-11-23 03:00Z (04:00 here)');
    expect(timeAndHere(at + 5000)).toBe('2026-11-23 03:00:05Z (04:00:05 here)');
    process.env['TZ'] = 'America/New_York';
    expect(timeAndHere(at)).toBe('2026-11-23 03:00Z (2026-11-22 22:00 here)');
  });
});

describe('formatDuration', () => {
  it('formatDuration names the two largest units', () => {
    expect(formatDuration(5_400_000)).toBe('1h 30m');
    expect(formatDuration(45_000)).toBe('45s');
    expect(formatDuration(2 * 86_400_000 + 4 * 3_600_000 + 5000)).toBe('2d 4h');
    expect(formatDuration(3_600_000 + 5000)).toBe('1h');
    expect(formatDuration(59_600)).toBe('1m');
    expect(formatDuration(-5)).toBe('0s');
  });
});
