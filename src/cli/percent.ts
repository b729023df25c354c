import { SvcError } from '../errors.ts';

/** Reads a percentage such as `80%` or `80`, as a number of hundredths: 80. More than 100 % is one too. */
export function percent(text: string): number {
  const digits = /^(\d{1,4}(?:\.\d{1,3})?)%$/.exec(text)?.[1] ?? /^\d{1,4}$/.exec(text)?.[0];
  if (digits === undefined || Number(digits) === 0)
    throw new SvcError('usage', 'must be a percentage above zero, such as 80%');
  return Number(digits);
}
