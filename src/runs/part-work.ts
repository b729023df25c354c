import type { Client } from '../api/client.ts';
import type { UploadSource } from '../transfer/source.ts';
import type { RunOptions } from './events.ts';
import type { EarlierJob, RunPart, RunRecord } from './record.ts';

/** What following a run's jobs needs. */
export interface RunWork extends RunOptions {
  readonly client: Client;
  readonly record: RunRecord;
  /** Puts the record on disk; called before and after every act that must not happen twice. */
  readonly save: () => void;
}

/** What bringing one part to a job needs. */
export interface PartWork extends RunWork {
  readonly part: RunPart;
  readonly source: UploadSource;
  /** Polls an upload that an earlier process left in doubt once, and does not wait for its end. */
  readonly pollOnce?: boolean | undefined;
}

/** Its job is gone without a file, or failed: the part may have another one. */
export function detachJob({ part, save }: Pick<PartWork, 'part' | 'save'>, ended: EarlierJob['ended']): void {
  if (part.job !== undefined) part.earlier_jobs = [...(part.earlier_jobs ?? []), { job: part.job, ended }];
  delete part.job;
  delete part.errors;
  delete part.seen;
  delete part.sent;
  delete part.sent_at;
  delete part.expires_at;
  delete part.missing_since;
  delete part.done_at;
  part.state = 'planned';
  save();
}
