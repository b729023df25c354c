// Asks the operator about columns of an export, and about rows that repeat a token.

import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { countText, formatNumber } from '../../cli/output/number.ts';
import { STANDARD_INPUT } from '../request/open-request-file.ts';
import { type ColumnChoice, isShown, type PreparedColumn, replacesColumn, shownNames } from './prepare-columns.ts';
import type { ReadingOptions } from './how-to-read.ts';
import { droppedRows, type Prepared } from './prepare.ts';

/** The operator's answers about an export, as options of `prepare`. */
export type Answers = Pick<ReadingOptions, 'columns' | 'noExpiration' | 'noMerchant' | 'accept'>;

interface Asked {
  /** The name of the export as typed. */
  readonly typed: string;
  readonly how: ReadingOptions;
  /** The command, as words after `svc`, to which an error adds the option that answers. */
  readonly words: readonly string[];
}

/**
 * Asks which column is the expiration and which is the merchant, if none is known and some look like it.
 * @throws SvcError `refused_input` without a terminal to ask on
 */
export async function askForColumns(context: Context, prepared: Prepared, asked: Asked): Promise<Answers> {
  const { candidates, merchants } = prepared;
  const { how } = asked;
  const expiration = await askForColumn(context, asked, { ...EXPIRATION, candidates });
  const merchant = await askForColumn(context, asked, { ...MERCHANT, candidates: merchants.likely });
  const columns = [expiration, merchant].flatMap((answer) =>
    answer === undefined || answer === 'none' ? [] : [answer],
  );
  return {
    ...(columns.length > 0 && { columns: [...(how.columns ?? []), ...columns] }),
    ...(expiration === 'none' && { noExpiration: true }),
    ...(merchant === 'none' && { noMerchant: true }),
  };
}

/**
 * Asks whether to leave out rows that repeat a token, if a column differs in them as a merchant would: each of these rows may
 * belong into the request.
 * @throws SvcError `refused_input` without a terminal to ask on, or if they are not to be left out
 */
export async function requireMeantRepeats(context: Context, prepared: Prepared, asked: Asked): Promise<Answers> {
  const repeats = repeatsToldApart(prepared);
  const { how, typed, words } = asked;
  if (repeats === undefined || how.accept?.includes('repeats') === true) return {};
  const { rows, columns } = repeats;
  const fact = `${rows} repeat a token, and the column ${shownNames(columns)} tells them apart`;
  const prompts = context.prompts();
  if (prompts.canAsk && (await prompts.promptMeaning(`${fact}. Leave them out?`)))
    return { accept: [...(how.accept ?? []), 'repeats'] };
  const named = words.filter((word) => word !== '--no-merchant');
  const [next, ...others] = columns.map((name) => withMap(named, 'merchant_id', typeable(name)));
  throw new SvcError('refused_input', `${fileOf(typed)}: ${fact}`, {
    hint: 'Nothing was written. The merchants of one token are updated separately. If the column has their ids, name it; if these rows are to be left out, accept it:',
    next,
    alternatives: [...others, [...words, ...ACCEPT_REPEATS]],
    facts: { check: 'repeats', candidates: columns.filter(isShown) },
  });
}

const ACCEPT_REPEATS = ['--accept', 'repeats'] as const;

/** The share of rows up to which such repeats are left out without a question. */
const FEW_REPEATS = 0.01;

function repeatsToldApart(prepared: Prepared) {
  const { rows, tellingApart } = prepared;
  const { repeated_tokens: count } = droppedRows(prepared);
  if (tellingApart.length === 0 || count <= (rows + count) * FEW_REPEATS) return undefined;
  return { rows: `${formatNumber(count)} of ${countText(rows + count, 'row')}`, columns: tellingApart };
}

/** A question about a column. */
interface Question {
  readonly column: PreparedColumn;
  readonly what: string;
  readonly none: string;
  readonly candidates: readonly string[];
}

const EXPIRATION = { column: 'expiration', what: 'the expiration', none: '--no-expiration' } as const;
const MERCHANT = { column: 'merchant_id', what: 'the merchant', none: '--no-merchant' } as const;

async function askForColumn(
  { prompts }: Context,
  { typed, words }: Asked,
  { column, what, none, candidates }: Question,
): Promise<ColumnChoice | 'none' | undefined> {
  if (candidates.length === 0) return undefined;
  const lines = candidates.map((name) => withMap(words, column, typeable(name)));
  const without = [...words, none];
  const [next = without, ...others] = lines;
  if (!prompts().canAsk)
    throw new SvcError(
      'refused_input',
      `${fileOf(typed)}: no column is known as ${what}, but ${shownNames(candidates)} may be`,
      {
        hint: 'Nothing was written. Name the column, or say that none is:',
        next,
        alternatives: [...others, without],
        facts: { candidates: candidates.filter(isShown) },
      },
    );
  for (const name of candidates)
    if (await prompts().promptMeaning(`Is the column ${shownNames([name])} ${what}?`)) return { column, name };
  return 'none';
}

function fileOf(typed: string): string {
  return typed === '-' ? STANDARD_INPUT : typed;
}

function typeable(name: string): string {
  return isShown(name) ? name : 'NAME';
}

/** Adds the choice of a column to a command, and removes the earlier choices that it replaces. */
export function withMap(words: readonly string[], column: string, name: string): string[] {
  return [...withoutMap(words, (each) => replacesColumn(column, each)), '--map', `${column}=${name}`];
}

/** Removes choices of columns from a command. */
export function withoutMap(words: readonly string[], isRemoved: (column: string, name: string) => boolean): string[] {
  const isMap = (at: number): boolean => {
    const [column = '', ...name] = words[at] === '--map' ? (words[at + 1] ?? '').split('=') : [];
    return column !== '' && isRemoved(column, name.join('='));
  };
  return words.filter((_, at) => !isMap(at) && !isMap(at - 1));
}
