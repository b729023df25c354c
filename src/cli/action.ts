import { type Actions, STEPS } from '../csv/actions.ts';
import type { NextStep } from '../csv/result-codes.ts';
import { SvcError } from '../errors.ts';
import { repeated } from './parameter.ts';
import type { ValueParser } from './values.ts';

const action: ValueParser<readonly [code: string, step: NextStep]> = (typed) => {
  const [, code, word] = /^([A-Za-z0-9_]{1,64})=([a-z]+)$/.exec(typed) ?? [];
  const step = STEPS.find((known) => known === word);
  if (code === undefined || step === undefined)
    throw new SvcError('usage', `must be a result code, =, and one of ${STEPS.join(', ')}`);
  return [code, step];
};

/** `--action`: what a result code asks for, where the operator knows better. The last one for a code counts. */
export const actionParameter = repeated(
  '--action <code=step>',
  `what to do with the rows of a result code: ${STEPS.join(', ')}; for example WRN_OPT_OUT=exclude`,
  action,
);

/** The typed `--action` options. */
export function actionsOf(typed: readonly (readonly [code: string, step: NextStep])[]): Actions {
  return new Map(typed);
}
