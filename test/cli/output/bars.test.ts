import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawBar, drawGauge, drawSparkline } from '../../../src/cli/output/bars.ts';
import { countText, fixedPercent, formatBytes, formatNumber, formatPercent } from '../../../src/cli/output/number.ts';

describe('numbers', () => {
  it('numbers have thousands separators in the whole part only', () => {
    expect(formatNumber(1_234_567.12345)).toBe('1,234,567.12345');
    expect(formatNumber(-1000)).toBe('-1,000');
    expect(formatNumber(999)).toBe('999');
    expect(formatNumber(Number.MAX_SAFE_INTEGER)).toBe('9,007,199,254,740,991');
  });

  it('numbers of bytes step up in thousands and never show 1000 of a unit', () => {
    expect(formatBytes(999)).toBe('999 B');
    expect(formatBytes(12_400_000)).toBe('12.4 MB');
    expect(formatBytes(999_960)).toBe('1.0 MB');
    expect(formatBytes(30_000_000)).toBe('30.0 MB');
    fc.assert(fc.property(fc.nat(2 ** 31 - 1), (bytes) => !formatBytes(bytes).startsWith('1000')));
  });

  it('numbers of shares have at most one decimal', () => {
    expect(formatPercent(0.123)).toBe('12.3%');
    expect(formatPercent(1)).toBe('100%');
    expect(formatPercent(Number.NaN)).toBe('-');
  });

  it('numbers of shares among others always have one decimal', () => {
    expect([0.4, 1 / 3, 0, Number.NaN].map(fixedPercent)).toEqual(['40.0%', '33.3%', '0.0%', '-']);
    const edges = [1e-9, 39 / 250_000, 0.0005, 0.9994, 249_961 / 250_000, 1];
    expect(edges.map(fixedPercent)).toEqual(['<0.1%', '<0.1%', '0.1%', '99.9%', '>99.9%', '100.0%']);
    expect(edges.map(formatPercent)).toEqual(['<0.1%', '<0.1%', '0.1%', '99.9%', '>99.9%', '100%']);
  });

  it('numbers of things are in the singular for one thing only', () => {
    const nouns = ['entry', 'match', 'day', 'row'];
    expect(nouns.map((noun) => countText(1, noun))).toEqual(['1 entry', '1 match', '1 day', '1 row']);
    expect(nouns.map((noun) => countText(0, noun))).toEqual(['0 entries', '0 matches', '0 days', '0 rows']);
    expect(countText(1200, 'log entry')).toBe('1,200 log entries');
  });
});

describe('bars', () => {
  it('bars fit their width, grow with the value, and show any value above zero', () => {
    fc.assert(
      fc.property(fc.nat(1000), fc.nat(1000), fc.integer({ min: 1, max: 80 }), (a, b, width) => {
        const most = Math.max(a, b, 1);
        const [small, large] = [drawBar(Math.min(a, b), most, width), drawBar(Math.max(a, b), most, width)];
        expect(large.length).toBeLessThanOrEqual(width);
        expect(small.length).toBeLessThanOrEqual(large.length);
        expect(small === '').toBe(Math.min(a, b) === 0);
      }),
    );
    expect(drawBar(5, 10, 3)).toBe('█▌');
    expect(drawBar(1, 1000, 10)).toBe('▏');
    expect(drawBar(5, 10, 4, { unicode: false })).toBe('##');
  });

  it('bars of a gauge always take their whole width', () => {
    expect(drawGauge(0.5, 4)).toBe('██░░');
    expect(drawGauge(7, 3, { unicode: false })).toBe('###');
    expect(drawGauge(-1, 3, { unicode: false })).toBe('...');
  });

  it('bars of a sparkline keep zero apart from little', () => {
    expect(drawSparkline([0, 1, 500, 1000])).toBe('▁▂▅█');
    expect(drawSparkline([0, 0])).toBe('▁▁');
    expect(drawSparkline([0, 8], { unicode: false })).toBe('_#');
    expect(drawSparkline([])).toBe('');
  });
});
