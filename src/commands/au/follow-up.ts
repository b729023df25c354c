import type { RunRecord } from '../../account-updater/record.ts';
import type { RunDirectory } from '../../account-updater/run-directory.ts';
import type { Context } from '../../app/command.ts';
import { nextCommand } from '../../app/hint.ts';
import { text, value } from '../../app/parameter.ts';
import type { Summary } from '../../app/summary.ts';
import { isSvcError, SvcError } from '../../errors.ts';
import { formatNumber } from '../../output/time.ts';
import { countedResults, type Results } from './results.ts';
import { actionsOf, partRows, runRow, shownStatus } from './runs.ts';

/** `--exec`: a command of the operator's for each run that completes. */
export const execParameter = value(
  '--exec <command>',
  'a shell command to run once for each run that completes, which it gets as JSON on standard input; it is run again by the next sync or wait if it fails',
  text,
);

/**
 * Runs the command where it is due for a completed run whose results are written. On standard input it gets the run as
 * `svc au status` shows it, with the counts of its results; what it writes goes to stderr.
 * @returns its failure, after which it stays due
 */
export async function runExec(context: Context, run: RunDirectory, command: string) {
  const { record } = run;
  if (record.exec !== 'due' || record.results === undefined) return undefined;
  const { system, signal, notices } = context;
  const results = await countedResults(record, actionsOf(context, [])).catch((error: unknown) => {
    // Bytes that the operator vouched for need not be a table.
    if (isSvcError(error, 'checksum_mismatch')) return { file: record.results?.file };
    throw error;
  });
  const { runLine } = await import('../../security/child-environment.ts');
  const ended = await runLine(command, `${JSON.stringify({ ...runRow(record), results })}\n`, {
    env: system.env,
    cwd: system.cwd,
    added: { SVC_RUN_ID: record.id, SVC_RESULTS: record.results.file },
    onLine: (line) => notices.note(line),
    signal,
  });
  signal.throwIfAborted();
  const { code, problem } = ended;
  if (code !== 0 || problem !== undefined)
    return new SvcError(
      'local',
      `the command of --exec ${problem ?? `ended with ${code ?? ended.signal ?? 'a signal'}`}`,
      {
        hint: 'The results are written. Fix the command, and run it again for this run:',
        next: ['au', 'wait', run.name, '--exec', '<command>'],
      },
    );
  delete record.exec;
  run.save();
  return undefined;
}

/** What is said of a run, for the summary. */
export async function describeRun(context: Context, run: RunDirectory): Promise<Summary> {
  const { record } = run;
  // Results that were moved away, or that the operator vouched for, may not be countable.
  const counting = record.results && countedResults(record, actionsOf(context, []));
  const summary = await runSummary(record, await counting?.catch(() => undefined));
  const next = [nextCommand(['au', 'wait', run.name], context.globals, context.system)];
  return shownStatus(record) === 'pending' ? { ...summary, commands: next } : summary;
}

/** A run in words: its ids, then the counts of its results by class and code, or how far each of its jobs is. */
async function runSummary(record: RunRecord, results: Results | undefined): Promise<Summary> {
  const { id, profile, cycle, input } = record;
  const parts = partRows(record);
  const facts: [string, string][] = [
    ['run', id],
    ['file', `${input.name}, ${formatNumber(input.rows)} rows`],
    ['jobs', parts.map(({ job }) => job ?? 'none yet').join(', ')],
    ['profile', cycle === undefined ? profile : `${profile}, cycle ${cycle}`],
  ];
  const title = `Account Updater: ${shownStatus(record)}`;
  if (results === undefined) {
    const rows = parts.map((part) => [
      String(part.part),
      formatNumber(part.rows),
      part.status,
      [part.progress, ...part.errors].join('; '),
    ]);
    return { title, facts, head: ['part', 'rows', 'status', 'progress'], rows };
  }
  const { updated, warned, errors, unknown, unchanged, codes, file } = results;
  const counts = { updated, warnings: warned, errors, unknown, unchanged };
  const counted = Object.entries(counts).map(([name, count]) => `${formatNumber(count)} ${name}`);
  const { CLASS_NAMES, shownCode } = await import('../../account-updater/report-view.ts');
  const rows = CLASS_NAMES.flatMap(([kind, name]) =>
    codes.flatMap((code) =>
      code.class === kind ? [[name, shownCode(code.code), formatNumber(code.count), code.action]] : [],
    ),
  );
  facts.push(['results', file], ['rows', counted.join(', ')]);
  return { title, facts, head: ['class', 'result code', 'rows', 'what to do'], rows };
}
