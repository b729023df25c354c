import path from 'node:path';
import { actionFor, type Actions } from '../csv/actions.ts';
import { SvcError } from '../errors.ts';
import { type RunRecord, statusOf } from '../runs/record.ts';
import { wordsOf } from '../runs/run-wait.ts';
import { countResults } from '../runs/summary.ts';
import { drawResults, type Results, type Submission } from '../views/submission.ts';
import { actionsOf } from './action.ts';
import type { Context } from './context.ts';
import { isForPeople } from './print.ts';

/** A run as it is shown, without the numbers of its results. */
export function submissionOf(record: RunRecord): Submission {
  const { id, input, parts } = record;
  const status = statusOf(record) === 'open' ? wordsOf(record) : statusOf(record);
  const jobs = parts.flatMap(({ job }) => job ?? []);
  return {
    run: id,
    status,
    file: input.name,
    rows: input.rows,
    job: parts.length === 1 ? (jobs[0] ?? null) : null,
    jobs,
  };
}

/** Shows a run whose results are written: for programs as data, for people as a picture. Then checks --fail-on. */
export async function showResults(
  context: Context,
  print: (submission: Submission) => Promise<void>,
  record: RunRecord,
  failOn?: 'err' | 'wrn',
): Promise<void> {
  const results = await countedResults(record, actionsOf(context, []));
  const done = { ...submissionOf(record), results };
  if (isForPeople(context) && context.globals.fields === undefined) {
    await print({ ...done, results: { file: results.file } });
    const { palette, unicode, plain, out } = context;
    const columns = out.isTerminal ? out.width : Infinity;
    await out.write(drawResults(done.rows, results, { palette, unicode, plain, columns }));
  } else await print(done);
  checkThreshold(results, failOn);
}

async function countedResults({ results, input }: RunRecord, actions: Actions): Promise<Results> {
  if (!results) throw new SvcError('bug', 'results were to be shown before they were written');
  const { updated, warned, errors, unknown, unchanged, codes } = await countResults(results.file, input.rows);
  const rows = codes.map(({ code, class: kind, count }) => ({
    code,
    class: kind,
    count,
    action: actionFor(code, actions),
  }));
  return {
    ...results,
    file: shownPath(results.file),
    updated,
    warned,
    errors,
    unknown,
    unchanged,
    codes: rows,
  };
}

// As it would be typed here, where that is shorter.
function shownPath(file: string): string {
  const here = path.relative('', file);
  return here.startsWith('..') ? file : here;
}

function checkThreshold({ file, errors, warned, unknown }: Results, failOn: 'err' | 'wrn' | undefined): void {
  const met = failOn === 'wrn' ? errors + warned + unknown : failOn === 'err' ? errors : 0;
  if (met === 0) return;
  throw new SvcError('threshold', `${met} rows met --fail-on ${failOn}`, {
    hint: `The results are in ${file}; the list above says what each result code asks for.`,
    facts: { errors, warned, unknown, results: file },
  });
}
