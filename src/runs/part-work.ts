import type { Client } from '../api/client.ts';
import type { UploadSource } from '../transfer/source.ts';
import type { RunOptions } from './events.ts';
import type { EarlierJob, RunPart, RunRecord } from './record.ts';

/** What bringing one part to a job needs. */
export interface PartWork extends RunOptions {
  readonly client: Client;
  readonly record: RunRecord;
  readonly part: RunPart;
  readonly source: UploadSource;
  /** Puts the record on disk; called before and after every act that must not happen twice. */
  readonly save: () => void;
}

/** The job is gone, or failed: the part needs another one. */
export function letGo({ part, save }: Pick<PartWork, 'part' | 'save'>, ended: EarlierJob['ended']): void {
  if (part.job !== undefined) part.earlier_jobs = [...(part.earlier_jobs ?? []), { job: part.job, ended }];
  delete part.job;
  delete part.errors;
  delete part.seen;
  delete part.sent_at;
  delete part.done_at;
  part.state = 'planned';
  save();
}
