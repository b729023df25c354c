import type { Actions } from '../csv/actions.ts';
import { SvcError } from '../errors.ts';
import { type ChosenStep, parseChosenStep, RESULT_STEPS } from '../result-step.ts';
import type { Context } from './context.ts';
import { type Parameter, repeated } from './parameter.ts';
import type { ValueParser } from './values.ts';

const VARIABLE = 'SVC_ACTION';
const WORDS = RESULT_STEPS.join(', ');

const action: ValueParser<ChosenStep> = (typed) => {
  const chosen = parseChosenStep(typed);
  if (chosen) return chosen;
  throw new SvcError('usage', `must be a result code, =, and one of ${WORDS}`);
};

/** `--action`: what a result code asks for, where the operator knows better. The last one for a code counts. */
export const actionParameter: Parameter<readonly ChosenStep[]> = {
  ...repeated(
    '--action <code=step>',
    `what to do with the rows of a result code: ${WORDS}; for example WRN_OPT_OUT=exclude. For good: svc profile set action.WRN_OPT_OUT exclude`,
    action,
  ),
  environment: VARIABLE,
};

/** What the operator chose, code by code: on the command line, else in the environment, else in the profile. */
export function actionsOf(
  { system, settings }: Pick<Context, 'system' | 'settings'>,
  typed: readonly ChosenStep[],
): Actions {
  const stored = Object.entries(settings.stored?.actions ?? {});
  return new Map([...stored, ...fromEnvironment(system.env[VARIABLE]), ...typed]);
}

function fromEnvironment(value = ''): ChosenStep[] {
  const entries = value.split(',').map((entry) => entry.trim());
  return entries.filter(Boolean).map((entry) => {
    const chosen = parseChosenStep(entry);
    if (chosen) return chosen;
    throw new SvcError(
      'config',
      `the value of ${VARIABLE} should be a list of result codes with their steps`,
      {
        hint: `Write it like WRN_OPT_OUT=exclude,WRN_ISSUER_NO_DATA=keep; the steps are ${WORDS}.`,
      },
    );
  });
}
