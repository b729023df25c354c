// The option --action: what to do with rows of a result code.

import { SvcError } from '../../base/errors.ts';
import { didYouMean } from '../../base/security/typed-word.ts';
import type { Context } from '../../cli/app/command.ts';
import { assignmentsOf, rare, repeated, suggesting, type Suggestion } from '../../cli/app/parameter.ts';
import { doubtfulCode, RESULT_STEPS, type ResultStep, resultCodeProblem } from '../../cli/config/result-steps.ts';
import table from '../glossary.json' with { type: 'json' };
import type { Actions } from '../result-codes.ts';

const STEPS = RESULT_STEPS.join(', ');

/** Overrides the action for a result code. The last value for a code counts. */
export const actionParameter = rare(
  suggesting(
    codesAndSteps,
    repeated(
      '--action <code=step>',
      `what to do with rows of this result code: ${STEPS}; such as WRN_OPT_OUT=exclude`,
      chosenStep,
    ),
  ),
);

/** A step chosen for a result code, typed as WRN_OPT_OUT=exclude. */
export type ChosenStep = readonly [code: string, step: ResultStep];

function chosenStep(typed: string): ChosenStep {
  const [code = '', word, ...rest] = typed.split('=');
  const step = RESULT_STEPS.find((known) => known === word);
  if (step !== undefined && rest.length === 0 && resultCodeProblem(code) === undefined) return [code, step];
  throw new SvcError('usage', `must be a result code, =, and one of ${STEPS}`, {
    hint: didYouMean(typed.replace(/^.*=/, ''), RESULT_STEPS) ?? 'Such as WRN_OPT_OUT=exclude.',
  });
}

/** Suggests every result code with each action. */
async function codesAndSteps(): Promise<Suggestion[]> {
  const { wordsIn } = await import('../../cli/glossary/glossary.ts');
  const { default: words } = await import('../glossary.json', { with: { type: 'json' } });
  const steps = wordsIn(words, 'action');
  return wordsIn(words, 'result code').flatMap(([code, meaning]) => assignmentsOf(code, meaning, steps));
}

/** Returns the options that choose these actions, as words of a command line. */
export function actionWords(chosen: readonly ChosenStep[]): string[] {
  return chosen.flatMap(([code, step]) => ['--action', `${code}=${step}`]);
}

/**
 * Returns the operator's actions by result code. The command line overrides the profile. Warns of an unknown code,
 * which may still be right, because the service may send any code.
 */
export function actionsOf(
  { settings, notices }: Pick<Context, 'settings' | 'notices'>,
  typed: readonly ChosenStep[],
): Actions {
  for (const [code] of typed) {
    const doubt = doubtfulCode(code, Object.keys(table['result code']));
    if (doubt !== undefined) notices.warn(`--action: ${doubt}`);
  }
  return new Map([...Object.entries(settings.stored?.actions ?? {}), ...typed]);
}
