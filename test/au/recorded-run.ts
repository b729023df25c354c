import type { RecordedPart } from '../../src/au/run/part.ts';
import type { RunRecord } from '../../src/au/run/record.ts';

/** A record on disk, which a test can change as another version or an accident would. */
export type RecordOnDisk = Omit<RunRecord, 'parts'> & { parts: Editable<RecordedPart>[] } & Record<string, unknown>;

type Editable<T> = T extends readonly (infer Item)[]
  ? Editable<Item>[]
  : T extends object
    ? { -readonly [K in keyof T]: Editable<T[K]> }
    : T;

/** Changes the parts of a record to ones without jobs, whose files are still to be uploaded. */
export function forgetJobs({ parts }: RecordOnDisk): void {
  for (const part of parts) {
    part.state = 'planned';
    delete part.job;
  }
}
