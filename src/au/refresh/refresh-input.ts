import type { ChosenStep } from '../../cli/config/values.ts';
import type { RejectLimit } from '../prepare/prepare-options.ts';
import type { PrepareOptions } from '../prepare/prepare.ts';
import type { Confirmed } from '../jobs/options.ts';
import type { SqlDialect } from './update-sql.ts';
import type { Threshold } from '../results/fail-on.ts';
import type { Context } from '../../cli/app/command.ts';
import { nextCommand } from '../../cli/app/hint.ts';

/** What the operator asked `svc au refresh` to do. */
export interface RefreshInput {
  /** The export as typed; undefined to go on with what the cycle has. */
  readonly export: string | undefined;
  readonly cycle: string;
  /** Whether the operator did not name the cycle, and confirms it on the terminal. */
  readonly asksForCycle: boolean;
  /** The directory of all cycles, as typed. */
  readonly parent: string;
  readonly how: PrepareOptions;
  /** The options of `how`, as words. */
  readonly options: readonly string[];
  readonly maxRejects: RejectLimit | undefined;
  /** Whether to wait until the jobs are done. Otherwise they are polled once. */
  readonly wait: boolean;
  /** Whether the operator goes on without the list of exclusions. */
  readonly exclusions: 'none' | undefined;
  /** Whether to write the request of the next cycle. */
  readonly next: boolean;
  /** The database for which the new tokens are written as SQL, if it was typed. */
  readonly sql: SqlDialect | undefined;
  readonly failOn: Threshold | undefined;
  readonly action: readonly ChosenStep[];
  /** Whether the new rows of a changed export are sent in a cycle that has begun. */
  readonly add: boolean;
  readonly confirmed: Confirmed;
  readonly onlyRecorded: boolean;
  /** Whether to show what would be submitted, and to send and write nothing. */
  readonly dryRun: boolean;
  /** Whether to name each step. */
  readonly verbose: boolean;
  /** This command line, as words after `svc`. */
  readonly again: readonly string[];
}

/** Returns a command with `export.csv` as its export, in place of the one that was typed, if any. */
export function withExport([group = '', command = '', ...words]: readonly string[], typed?: string): string[] {
  return [group, command, 'export.csv', ...words.slice(typed === undefined ? 0 : 1)];
}

/** Returns a command with another directory of all cycles. */
export function inDirectory(words: readonly string[], directory: string): string[] {
  const at = words.indexOf('--out-dir');
  return [...(at === -1 ? words : words.toSpliced(at, 2)), '--out-dir', directory];
}

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
