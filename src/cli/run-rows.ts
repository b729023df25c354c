import { type RunRecord, statusOf } from '../runs/record.ts';
import { wordsOf } from '../runs/run-wait.ts';
import type { PartRow, RunRow } from '../views/run.ts';

/** A run in one line. */
export function runRow(record: RunRecord): RunRow {
  const { id, created_at, cycle, input, parts } = record;
  return {
    run: id,
    status: statusOf(record),
    created_at,
    cycle: cycle ?? null,
    file: input.name,
    rows: input.rows,
    jobs: parts.length,
    progress: wordsOf(record),
  };
}

/** A run's parts, a line each. */
export function partRows({ parts }: RunRecord): PartRow[] {
  return parts.map(({ number, rows, state, seen, job, errors }) => ({
    part: number,
    rows,
    state,
    job_status: seen ?? null,
    job: job ?? null,
    errors: errors ?? [],
  }));
}
