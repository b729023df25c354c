import { SvcError } from '../../base/errors.ts';
import { option } from '../../cli/app/hint.ts';
import type { Threshold } from '../results/fail-on.ts';
import { flag, rare } from '../../cli/app/parameter.ts';

interface WaitOptions {
  readonly wait: boolean;
  readonly out: string | undefined;
  readonly failOn: unknown;
}

/** Checks the options that only mean something for a wait. @throws SvcError `usage` */
export function checkWaitOptions({ wait, out, failOn }: WaitOptions): void {
  if (out === '-')
    throw new SvcError('usage', '--out must be a file: the summary is written to standard output', {
      hint: 'Give a file name, or download the results once they are there:',
      next: ['au', 'download', '<job>', '--out', '-'],
    });
  if (!wait && failOn !== undefined)
    throw new SvcError('usage', '--fail-on is about the results and needs --wait', { hint: 'Add --wait.' });
}

/** The options of a command that waits, as they were typed. */
export interface TypedWait {
  readonly wait: boolean;
  readonly out: string | undefined;
  readonly force: boolean;
  readonly failOn: Threshold | undefined;
}

/** The options of resume, as they were typed. */
export interface ResumeOptions extends TypedWait {
  readonly dryRun: boolean;
}

/** Returns the words of the options of an interrupted command. */
export function optionWords({ wait, out, force, failOn }: TypedWait): string[] {
  return [
    ...(wait ? ['--wait'] : []),
    ...option('--out', out),
    ...(force ? ['--force'] : []),
    ...option('--fail-on', failOn?.words),
  ];
}

/** Adds --wait to a command that lacks it, but for a command that has no such option. */
export function waitingWords(words: readonly string[]): readonly string[] {
  return words.includes('--wait') || !['submit', 'resume'].includes(words[1] ?? '') ? words : [...words, '--wait'];
}

/** The option `--only-recorded`, with which a job that the ledger does not know stops the upload. */
export const onlyRecordedParameter = rare(flag('--only-recorded', 'stop if the key has jobs that the ledger lacks'));

/** The options that confirm what may bill rows again. */
export const confirmParameters = {
  payAgain: rare(flag('--pay-again', 'send rows that another cycle has, too: they are billed again')),
  newLedger: rare(flag('--new-ledger', 'begin an empty ledger although the key has jobs')),
} as const;

/** What the operator confirmed. */
export interface Confirmed {
  /** Whether a cycle may begin with rows of another one. */
  readonly payAgain: boolean;
  /** Whether an empty ledger may begin although the key has jobs. */
  readonly newLedger: boolean;
}

/** Returns the typed options of `confirmParameters`, as words of a command line. */
export function confirmWords({ payAgain, newLedger }: Confirmed): string[] {
  return [...(payAgain ? ['--pay-again'] : []), ...(newLedger ? ['--new-ledger'] : [])];
}

/** Ends of commands that confirm what stopped the same command without them. */
export const CONFIRMATIONS: readonly (readonly string[])[] = [
  ['--pay-again'],
  ['--new-ledger'],
  ['--accept', 'merchants'],
];
