import { expect, it } from 'vitest';
import { text as STYLE } from '../../../../src/emulator/three-ds/pages/style.css';

/** Returns the colors of a theme by name: the first rule is the light theme, the second the dark one. */
function theme(place: number): Record<string, string> {
  const rule = [...STYLE.matchAll(/:root \{([^}]*)\}/g)][place]?.[1] ?? '';
  const colors = [...rule.matchAll(/--([a-z-]+): (#[0-9a-f]{3,6});/g)];
  return Object.fromEntries(colors.map(([, name = '', value = '']) => [name, value]));
}

/** Returns the relative luminance as WCAG 2 defines it. */
function luminance(color: string): number {
  const digits = color.length === 4 ? color.replaceAll(/[0-9a-f]/g, '$&$&') : color;
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const value = Number.parseInt(digits.slice(start, start + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

/** Foregrounds and backgrounds, with the contrast that WCAG AA requires: 4.5 for text, 3 for lines. */
const PAIRS = [
  ['ink', 'paper', 4.5],
  ['ink', 'ground', 4.5],
  ['quiet', 'paper', 4.5],
  ['quiet', 'ground', 4.5],
  ['bad', 'paper', 4.5],
  ['accent', 'paper', 4.5],
  ['on-accent', 'accent', 4.5],
  ['on-hint', 'hint', 4.5],
  ['line', 'paper', 3],
] as const;

it.each([
  ['light', 0],
  ['dark', 1],
])('the colors of the pages have enough contrast: %s', (_, place) => {
  const colors = theme(place);
  const found = PAIRS.map(([front, back, least]) => {
    const ratio = contrast(colors[front] ?? '', colors[back] ?? '');
    return { front, back, enough: ratio >= least };
  });
  expect(found.filter(({ enough }) => !enough)).toEqual([]);
  expect(contrast('#000', '#fff')).toBeCloseTo(21);
});
