import type { Context } from '../../cli/app/command.ts';
import { nextCommand } from '../../cli/app/hint.ts';

const STEPS = ['prepare', 'submit', 'wait', 'report', 'next'] as const;

export type StepName = (typeof STEPS)[number];

/** Announces a step with the command that does it alone. No other command finds what a rehearsal keeps. */
export function announceStep(context: Context, name: StepName, words: readonly string[]): void {
  if (context.isRehearsal) return context.notices.note(titleOf(name));
  noteStep(context, name, '');
  context.notices.command(nextCommand(words, context.globals, context.system));
}

/** Says what is known of a step. */
export function noteStep({ notices }: Context, name: StepName, what: string): void {
  notices.note(what === '' ? `${titleOf(name)}:` : `${titleOf(name)}: ${what}`);
}

function titleOf(name: StepName): string {
  return `step ${STEPS.indexOf(name) + 1} of ${STEPS.length}, ${name}`;
}
