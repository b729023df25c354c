import { flag, rare } from '../../cli/app/parameter.ts';

/** The option `--only-recorded`, with which a job that the ledger does not know stops the upload. */
export const onlyRecordedParameter = rare(flag('--only-recorded', 'stop if the key has jobs that the ledger lacks'));

/** The option `--begin`, which confirms that a cycle begins with rows that another one has, or a ledger with jobs. */
export const beginParameter = rare(flag('--begin', 'pay for rows of another cycle; or begin a ledger'));
