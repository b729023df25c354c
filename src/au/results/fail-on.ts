// The option --fail-on: the share of rows with errors that lets a command exit with 10.

import { SvcError } from '../../base/errors.ts';
import { didYouMean } from '../../base/security/typed-word.ts';
import { type Parameter, value } from '../../cli/app/parameter.ts';

/** The share of rows with errors, or with errors and warnings, above which a command exits with code 10. */
export interface Threshold {
  readonly class: 'err' | 'wrn';
  /** The largest allowed share of all rows, from 0 to 1. */
  readonly share: number;
  /** The threshold as typed. */
  readonly words: string;
}

/** Parses `err`, `wrn`, `err=5%` or `wrn=0.5%`. Without a share, a single row is too many. */
export function parseThreshold(typed: string): Threshold {
  const [, kind, number] = /^(err|wrn)(?:=(\d{1,3}(?:\.\d{1,6})?)%)?$/.exec(typed.trim()) ?? [];
  const percent = Number(number ?? 0);
  if ((kind === 'err' || kind === 'wrn') && percent <= 100)
    return { class: kind, share: percent / 100, words: typed.trim() };
  throw new SvcError('usage', 'must be err or wrn, or one of them with a share such as err=5%', {
    hint: didYouMean(typed, ['err', 'wrn']),
  });
}

export const failOnParameter: Parameter<Threshold | undefined> = {
  ...value(
    '--fail-on <class[=share]>',
    'exit with 10 on rows with errors (err), or with warnings too (wrn); err=5% allows a share',
    parseThreshold,
  ),
  suggest: () => [
    ['err', 'a row ended in an error'],
    ['wrn', 'a row ended in an error or a warning'],
    ['err=5%', 'more than this share of the rows ended in an error'],
  ],
};
