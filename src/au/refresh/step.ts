import type { Context } from '../../cli/app/command.ts';
import { nextCommand } from '../../cli/app/hint.ts';
import type { RefreshInput } from './refresh-input.ts';

const STEPS = ['prepare', 'submit', 'wait', 'report', 'next'] as const;

export type StepName = (typeof STEPS)[number];

/** Whether to name the steps, and whether the last one makes the next request. */
type Steps = Pick<RefreshInput, 'next' | 'verbose'>;

/** Announces a step with the command that does it alone. No other command finds what a rehearsal keeps. */
export function announceStep(context: Context, steps: Steps, name: StepName, words: readonly string[]): void {
  if (!steps.verbose) return;
  if (context.isRehearsal) return context.notices.note(titleOf(steps, name));
  noteStep(context, steps, name, '');
  context.notices.command(nextCommand(words, context.globals, context.system));
}

/** Says what is known of a step. */
export function noteStep({ notices }: Context, steps: Steps, name: StepName, what: string): void {
  if (steps.verbose) notices.note(what === '' ? `${titleOf(steps, name)}:` : `${titleOf(steps, name)}: ${what}`);
}

function titleOf({ next }: Steps, name: StepName): string {
  return `step ${STEPS.indexOf(name) + 1} of ${next ? STEPS.length : STEPS.length - 1}, ${name}`;
}
