// The arguments and options of `svc au refresh`, and the announcement of its steps.

import type { ChosenStep } from '../results/action-option.ts';
import type { RejectLimit } from '../prepare/prepare-options.ts';
import type { ReadingOptions } from '../prepare/how-to-read.ts';
import type { Confirmed } from '../jobs/options.ts';
import type { SqlDialect } from './update-sql.ts';
import type { Threshold } from '../results/fail-on.ts';
import type { Context } from '../../cli/app/command.ts';
import { nextCommand } from '../../cli/app/hint.ts';

/** The arguments and options of `svc au refresh`. */
export interface RefreshInput {
  /** The export as typed; undefined to continue with the request of the cycle. */
  readonly export: string | undefined;
  readonly cycle: string;
  /** Whether the operator named no cycle and has to confirm the month's cycle on the terminal. */
  readonly asksForCycle: boolean;
  /** The directory of all cycles, as typed. */
  readonly parent: string;
  /** How to read the export. */
  readonly how: ReadingOptions;
  /** The options of `how`, as words. */
  readonly options: readonly string[];
  readonly maxRejects: RejectLimit | undefined;
  /** Whether to wait until the jobs end. Otherwise they are polled once. */
  readonly wait: boolean;
  /** `none` continues without the list of exclusions. */
  readonly exclusions: 'none' | undefined;
  /** Whether to write the request of the next cycle. */
  readonly next: boolean;
  /** The database for `update.sql`, if typed. */
  readonly sql: SqlDialect | undefined;
  readonly failOn: Threshold | undefined;
  readonly action: readonly ChosenStep[];
  /** Whether to send the new rows of a changed export in a cycle that has begun. */
  readonly add: boolean;
  readonly confirmed: Confirmed;
  readonly onlyRecorded: boolean;
  /** Whether to show the plan, and to send and write nothing. */
  readonly dryRun: boolean;
  /** Whether to name each step. */
  readonly verbose: boolean;
  /** This command line, as words after `svc`. */
  readonly again: readonly string[];
}

/** Returns a command with `export.csv` as its export, in place of the typed export. */
export function withExport([group = '', command = '', ...words]: readonly string[], typed?: string): string[] {
  return [group, command, 'export.csv', ...words.slice(typed === undefined ? 0 : 1)];
}

/** Returns a command without standard input as its export. */
export function withoutInput(words: readonly string[]): readonly string[] {
  return words[2] === '-' ? words.toSpliced(2, 1) : words;
}

/** Returns a command with another value of an option. */
export function withOption(words: readonly string[], name: string, value: string): string[] {
  const at = words.indexOf(name);
  return [...(at === -1 ? words : words.toSpliced(at, 2)), name, value];
}

const STEPS = ['prepare', 'submit', 'wait', 'report', 'next'] as const;

type StepName = (typeof STEPS)[number];

/** The options that decide which steps are announced. */
type Steps = Pick<RefreshInput, 'next' | 'verbose'>;

/** Announces a step with the command that does only this step. A rehearsal shows no command: no other one finds its files. */
export function announceStep(context: Context, steps: Steps, name: StepName, words: readonly string[]): void {
  if (!steps.verbose) return;
  if (context.isRehearsal) return context.notices.note(titleOf(steps, name));
  context.notices.note(`${titleOf(steps, name)}:`);
  context.notices.command(nextCommand(words, context.globals, context.system));
}

/** Notes a step that no single command does. */
export function noteStep({ notices }: Context, steps: Steps, name: StepName, what: string): void {
  if (steps.verbose) notices.note(`${titleOf(steps, name)}: ${what}`);
}

function titleOf({ next }: Steps, name: StepName): string {
  return `step ${STEPS.indexOf(name) + 1} of ${next ? STEPS.length : STEPS.length - 1}, ${name}`;
}
