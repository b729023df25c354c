import { flag, rare } from '../../cli/app/parameter.ts';

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
