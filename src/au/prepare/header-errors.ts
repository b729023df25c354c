// Completes the errors about the header or the quotes of an export with the options that help.

import { isSameName, isShown } from './prepare-columns.ts';
import { withoutOption } from './prepare-messages.ts';
import { withMap, withoutMap } from './questions.ts';
import { STANDARD_INPUT } from '../request/open-request-file.ts';
import { isSvcError } from '../../base/errors.ts';
import { option } from '../../cli/app/hint.ts';
import { csvRow } from '../../cli/output/csv.ts';

/** Adds the options that help to an error about the header or the quotes. Returns other errors unchanged. */
export function withColumnOptions(error: unknown, typed: string, words: readonly string[]): unknown {
  if (!isSvcError(error, 'refused_input')) return error;
  const needs = error.facts?.['needs'];
  if (typeof needs !== 'string') return error;
  const answered = error.with({ message: `${typed === '-' ? STANDARD_INPUT : typed}: ${error.message}` });
  const { found, found_names: names, proposed } = error.facts ?? {};
  if (needs === 'quotes')
    return answered.with({ next: [...words, '--no-quotes'], alternatives: [[...words, '--accept', 'quotes']] });
  if (needs === 'columns') {
    const columns = Array.isArray(proposed) ? proposed.map(String) : [];
    // A mapped name by which the header was read stays: with it, the header is recognized, and is no row.
    const isNamed = (mapped: string): boolean => columns.some((name) => isSameName(name, mapped));
    const kept = withoutMap(withoutOption(words, '--columns'), (_, mapped) => !isNamed(mapped));
    return answered.with({ hint: NAME_COLUMNS, next: [...kept, ...option('--columns', csvRow(columns).trimEnd())] });
  }
  if (typeof found === 'string') {
    const without = withoutMap(words, (column) => column === found).filter((word) => word !== '--no-expiration');
    return answered.with({
      hint: 'Nothing was written. Name the column, or say that no column is the expiration:',
      next: withMap(words, needs, 'NAME'),
      alternatives: [[...without, '--no-expiration']],
    });
  }
  const named = (Array.isArray(names) ? names.map(String).filter(isShown) : []).map((name) =>
    withMap(words, needs, name),
  );
  const [next = withMap(words, needs, 'NAME'), ...alternatives] = named;
  return answered.with({ hint: 'Nothing was written. Name the column:', next, alternatives });
}

const NAME_COLUMNS =
  'Nothing was written. Name all columns in their order, with - for one that is not sent; month, year and merchant are names too:';
