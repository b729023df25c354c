// The options that the commands with jobs share: waiting, results files and confirmations.

import { SvcError } from '../../base/errors.ts';
import { option } from '../../cli/app/hint.ts';
import type { Threshold } from '../results/fail-on.ts';
import { flag, rare } from '../../cli/app/parameter.ts';

interface WaitOptions {
  readonly wait: boolean;
  readonly out: string | undefined;
  readonly failOn: unknown;
}

/** Checks --out and --fail-on of a command that may wait. @throws SvcError `usage` */
export function checkWaitOptions({ wait, out, failOn }: WaitOptions): void {
  if (out === '-')
    throw new SvcError('usage', '--out must be a file: the summary is written to standard output', {
      hint: 'Give a file name, or download the results once they are there:',
      next: ['au', 'download', '<job>', '--out', '-'],
    });
  if (!wait && failOn !== undefined)
    throw new SvcError('usage', '--fail-on is about the results and needs --wait', { hint: 'Add --wait.' });
}

/** The typed options of a command that may wait. */
export interface TypedWait {
  readonly wait: boolean;
  readonly out: string | undefined;
  readonly force: boolean;
  readonly failOn: Threshold | undefined;
}

/** The typed options of `au resume`. */
export interface ResumeOptions extends TypedWait {
  readonly dryRun: boolean;
}

/** Returns the options as words of a command line, for the command that continues an interrupted one. */
export function optionWords({ wait, out, force, failOn }: TypedWait): string[] {
  return [
    ...(wait ? ['--wait'] : []),
    ...option('--out', out),
    ...(force ? ['--force'] : []),
    ...option('--fail-on', failOn?.words),
  ];
}

/** Adds --wait to a command that has this option and lacks it. */
export function withWait(words: readonly string[]): readonly string[] {
  return words.includes('--wait') || !['submit', 'resume'].includes(words[1] ?? '') ? words : [...words, '--wait'];
}

/** The option that lets a job of the key outside the ledger stop the upload. */
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

/** The last words of commands that repeat a stopped command with the confirmation that it lacked. */
export const CONFIRMATIONS: readonly (readonly string[])[] = [
  ['--pay-again'],
  ['--new-ledger'],
  ['--accept', 'merchants'],
  ['--accept', 'columns'],
];
