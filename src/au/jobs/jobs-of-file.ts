import type { NamedCycle } from './named-cycle.ts';
import type { RequestFile } from '../request/open-request-file.ts';
import type { FileJob } from '../results/file-results.ts';

/** The jobs with rows of a file, as the ledger has them. */
export interface FileJobs {
  readonly file: RequestFile;
  readonly jobs: readonly FileJob[];
  /** Whether the operator named the cycle. */
  readonly isNamed: boolean;
  /** The command that goes on with the jobs. */
  readonly again: readonly string[];
  readonly cycle: NamedCycle;
}

/** Tells whether the rows of a claim were sent from this very file. */
export function isOfFile({ claim }: FileJob, { check }: Pick<RequestFile, 'check'>): boolean {
  return claim.file.sha256 === check.sha256;
}
