import { expect, it } from 'vitest';
import { tooManyToFix } from '../../../src/au/next/next-errors.ts';

it('too many rows that need fixing name the command that writes these rows', () => {
  const { code, next } = tooManyToFix({ rows: 10, fix: 6 }, 'results.csv');
  expect([code, next]).toEqual(['threshold', ['au', 'report', 'results.csv', '--split-into', 'todo']]);
});
