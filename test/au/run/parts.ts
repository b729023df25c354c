import { type Part, partOf, type PartState, type RecordedPart, type Sent } from '../../../src/au/run/part.ts';
import type { RunRecord } from '../../../src/au/run/record.ts';
import type { NamedRun } from '../../../src/au/run/run-errors.ts';

const NOON = '2026-01-05T12:00:00.000Z';

/** Returns a part as recorded in this state; `sent` says how much of its file was sent at noon. */
export function part(state: PartState, sent?: Sent, more: Partial<RecordedPart> = {}): Part {
  const plan = { number: 1, first_row: 1, rows: 1, start: 50, end: 60, bytes: 60, sha256: 'a' };
  const job = state === 'planned' ? {} : { job: 'job-1' };
  return partOf({ ...plan, ...job, state, ...(sent && { sent, sent_at: NOON }), ...more });
}

export function recordOf(...parts: Part[]): RunRecord {
  return {
    version: 2,
    id: 'run-20260105-0a1b2c3d-4e5f',
    created_at: NOON,
    profile: 'default',
    base_url: 'https://service.example',
    tenant_id: 'ours',
    input: { name: 't.csv', rows: 1, bytes: 60, sha256: 'a', header_bytes: 50 },
    parts,
  };
}

/** Returns a run of these parts that is not on disk. */
export function runOf(...parts: Part[]): NamedRun {
  return {
    record: recordOf(...parts),
    name: 'run-1',
    submitWords: ['au', 'submit', 't.csv'],
    resumeWords: ['au', 'resume', 'run-1'],
  };
}
