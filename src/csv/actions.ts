import type { ResultStep } from '../result-step.ts';
import { explainResultCode, type NextStep } from './result-codes.ts';

/** Steps that the operator chose for result codes, in place of the ones that come with the tool. */
export type Actions = ReadonlyMap<string, ResultStep>;

/** What is to be done with a row that came with this code: the operator's choice, else what the code asks for. */
export function stepFor(code: string, actions: Actions): NextStep {
  return actions.get(code) ?? explainResultCode(code).next;
}

/** What a code asks for in words: the operator's choice where it is another one, else what comes with the code. */
export function actionFor(code: string, actions: Actions): string {
  const { next, action } = explainResultCode(code);
  const chosen = actions.get(code);
  return chosen === undefined || chosen === next ? action : `${CHOSEN[chosen]} (your choice)`;
}

const CHOSEN: Readonly<Record<ResultStep, string>> = {
  replace: 'use the new token where there is one',
  keep: 'keep the token in future requests',
  exclude: 'leave the token out of future requests',
  mend: 'mend the row or the token before it is sent again',
};

/** Where a row of a result file belongs, by what there is to do. Also the names of the files of a split. */
export type Pile = 'update' | 'contact' | 'exclude' | 'fix' | 'keep' | 'unknown';

/** All piles, in the order of a report. */
export const PILES: readonly Pile[] = ['update', 'contact', 'exclude', 'fix', 'keep', 'unknown'];

/** The one pile for a row: `keep` is for rows that ask for nothing. */
export function pileOf(code: string, hasNewToken: boolean, actions: Actions): Pile {
  const { known, class: group, next } = explainResultCode(code);
  const step = actions.get(code) ?? next;
  if (step === 'replace') return hasNewToken ? 'update' : 'keep';
  if (step === 'exclude') return 'exclude';
  if (actions.has(code)) return step === 'mend' ? 'fix' : 'keep';
  if (!known) return 'unknown';
  if (step === 'consider_excluding') return 'exclude';
  if (code === 'WRN_CONTACT_CARDHOLDER') return 'contact';
  return group === 'error' ? 'fix' : 'keep';
}
