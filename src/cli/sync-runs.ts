import { spawn } from 'node:child_process';
import { EXIT_CODES, isSvcError, SvcError } from '../errors.ts';
import { lookOnce, needsFile, uploadParts } from '../runs/advance.ts';
import { writeResults } from '../runs/collect.ts';
import { headerOf, reopenFile } from '../runs/input-file.ts';
import { type RunRecord, statusOf } from '../runs/record.ts';
import type { RunDirectory } from '../runs/run-directory.ts';
import type { Context } from './context.ts';
import { showRun } from './run-progress.ts';
import { recordedRuns, serviceOf } from './runs.ts';

/** What a round over the open runs came to. */
export interface Synced {
  readonly records: readonly RunRecord[];
  /** 0 when nothing is open any more, 10 when a run failed, 11 when one is still open. */
  readonly code: number;
}

/** Advances every open run of this service once. One that another process holds, or that fails, stops no other. */
export async function syncRuns(context: Context, exec: string | undefined): Promise<Synced> {
  const here = serviceOf(context);
  const runs = recordedRuns(context).filter(({ record }) => record.base_url === here && isOpen(record));
  for (const run of runs) {
    try {
      await run.hold(context.system, () => advance(context, run, exec));
    } catch (error) {
      if (!isSvcError(error) || context.signal.aborted) throw error;
      context.notices.warn(`${run.record.id}: ${error.message}`);
    }
  }
  const records = runs.map(({ record }) => record);
  if (records.some((record) => statusOf(record) === 'failed'))
    return { records, code: EXIT_CODES.job_failed };
  return { records, code: records.some(isOpen) ? EXIT_CODES.pending : 0 };
}

function isOpen(record: RunRecord): boolean {
  return statusOf(record) === 'open' || (statusOf(record) === 'completed' && record.results === undefined);
}

async function advance(context: Context, run: RunDirectory, exec: string | undefined): Promise<void> {
  const { record } = run;
  const client = await context.client();
  const onEvent = showRun(context);
  if (needsFile(record)) {
    const path = await reopenFile(record);
    await uploadParts(
      client,
      run,
      { path, header: await headerOf(path, record.input.header_bytes) },
      { onEvent },
    );
  }
  await lookOnce(client, run, { onEvent });
  if (statusOf(record) !== 'completed' || record.out === undefined) return;
  await writeResults(run, record.out, false);
  context.notices.note(`${record.id} is complete: ${record.out}`);
  if (exec !== undefined) await runCommand(context, exec, record);
}

/** Runs the operator's own command for a run that is complete: its record on standard input, its names beside. */
async function runCommand({ system, signal }: Context, command: string, record: RunRecord): Promise<void> {
  const env = { ...withoutKeys(system.env), SVC_RUN_ID: record.id, SVC_RESULTS: record.out ?? '' };
  const child = spawn(command, { shell: true, env, stdio: ['pipe', 'inherit', 'inherit'], signal });
  child.stdin.on('error', () => undefined).end(`${JSON.stringify(record)}\n`);
  const code = await new Promise<number | null>((resolve, reject) =>
    child.on('error', reject).on('close', resolve),
  );
  if (code === 0) return;
  throw new SvcError('local', `the command of --exec ended with ${code ?? 'a signal'}`, {
    hint: 'The results are written; mend the command and run it by hand for this run.',
  });
}

function withoutKeys(env: Context['system']['env']): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^SVC_.*API_KEY/.test(name)));
}
