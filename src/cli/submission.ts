import { SvcError } from '../errors.ts';
import { orGoOnWith } from '../runs/going-on.ts';
import { downloadResults } from '../runs/results.ts';
import { submitFile } from '../runs/submit.ts';
import { countResults } from '../runs/summary.ts';
import { waitForJob } from '../runs/wait.ts';
import { inspectTarget } from '../transfer/target.ts';
import { checkedFileRow, checkedFileView } from '../views/request-file.ts';
import { drawResults, type Results, type Submission, submissionView } from '../views/submission.ts';
import type { Context } from './context.ts';
import { isForPeople, recordPrinter } from './print.ts';
import { openJobFile, type RequestFile } from './request-file.ts';
import { showRun } from './run-progress.ts';
import { sameProfile } from './same-profile.ts';

/** What `svc au submit` takes. */
export interface SubmitInput {
  readonly file: string;
  readonly wait: boolean;
  readonly out: string | undefined;
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly failOn: 'err' | 'wrn' | undefined;
}

/** From a request file to a job, and with `wait` on to its results and their summary. */
export async function submission(context: Context, input: SubmitInput): Promise<void> {
  const out = await resultFile(input);
  if (input.dryRun) return tellPlan(context, input, out);
  const print = await recordPrinter(context, submissionView);
  const file = await openJobFile(context, input.file);
  const client = await context.client();
  const onEvent = showRun(context);
  const job = await submitFile(client, file.source, { onEvent, again: `svc au submit ${input.file}` });
  const submitted: Submission = {
    job: job.id,
    status: 'submitted',
    file: file.name,
    rows: file.check.rows,
  };
  if (!input.wait) {
    await print(submitted);
    const next = `follow it with 'svc au wait ${job.id}', then 'svc au download ${job.id}'`;
    return context.notices.note(sameProfile(next, context.globals));
  }
  await orGoOnWith(`svc au wait ${job.id}`, job.id, waitForJob(client, job.id, { onEvent }));
  const download = downloadResults(client, job.id, out, {
    overwrite: input.force,
    host: context.system,
    onEvent,
  });
  const fetched = await orGoOnWith(`svc au download ${job.id} --out ${out}`, job.id, download);
  const done = { ...submitted, status: 'completed', results: await count(out, file, fetched) };
  await show(context, print, done);
  checkThreshold(input, done.results);
}

/** For people the numbers are a picture; for programs, and where fields were chosen, they are data. */
async function show(
  context: Context,
  print: (done: Submission) => Promise<void>,
  done: Submission & { results: Results },
): Promise<void> {
  if (!isForPeople(context) || context.globals.fields !== undefined) return print(done);
  await print({ ...done, results: { file: done.results.file } });
  await context.out.write(drawResults(done.rows, done.results, context.palette, context.unicode));
}

/** Where results will go. Found out, and looked at, before anything is sent. */
async function resultFile(input: SubmitInput): Promise<string> {
  if (!input.wait && (input.out !== undefined || input.failOn !== undefined)) {
    throw new SvcError('usage', '--out and --fail-on are about the results and need --wait', {
      hint: 'Add --wait.',
    });
  }
  const out =
    input.out ?? (input.file === '-' ? 'results.csv' : input.file.replace(/(\.csv)?$/i, '.results.csv'));
  if (input.wait) await inspectTarget(out, input.force);
  return out;
}

async function tellPlan(context: Context, input: SubmitInput, out: string): Promise<void> {
  const print = await recordPrinter(context, checkedFileView);
  const file = await openJobFile(context, input.file);
  await print(checkedFileRow(file.name, file.check));
  const results = input.wait ? `, wait for it, and write the results to ${out}` : '';
  context.notices.note(
    `dry run: nothing was sent. It would create one job, upload ${file.check.rows} rows${results}`,
  );
}

async function count(
  out: string,
  { check }: RequestFile,
  fetched: { bytes: number; sha256: string },
): Promise<Results> {
  const { updated, warned, errors, unknown, unchanged, codes } = await countResults(out, check.rows);
  return {
    file: out,
    bytes: fetched.bytes,
    sha256: fetched.sha256,
    updated,
    warned,
    errors,
    unknown,
    unchanged,
    codes: codes.map(({ code, class: kind, count: rows, action }) => ({
      code,
      class: kind,
      count: rows,
      action,
    })),
  };
}

function checkThreshold({ failOn }: SubmitInput, { file, errors, warned, unknown }: Results): void {
  const met = failOn === 'wrn' ? errors + warned + unknown : failOn === 'err' ? errors : 0;
  if (met === 0) return;
  throw new SvcError('threshold', `${met} rows met --fail-on ${failOn}`, {
    hint: `The results are in ${file}; the list above says what each result code asks for.`,
    facts: { errors, warned, unknown, results: file },
  });
}
