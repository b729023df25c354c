import { expect, it } from 'vitest';
import { submittedOnce } from './machine.ts';

it('svc au download names the run or the job whose results it wrote, and never a run as a job', async () => {
  const { machine, run } = await submittedOnce('--wait');
  const [job] = machine.record(`state/runs/${run}`).parts.map((part) => part.job);
  const [ofRun, ofJob] = [machine.path('run.csv'), machine.path('job.csv')];
  const rowOf = async (words: readonly string[]): Promise<unknown> =>
    JSON.parse((await machine.svc(['au', 'download', ...words])).stdout) as unknown;
  expect(await rowOf([run, '--out', ofRun])).toMatchObject({ run, job: null, file: ofRun });
  expect(await rowOf([job ?? '', '--out', ofJob])).toMatchObject({ run: null, job, file: ofJob, compared: true });
});

it.each([
  ['--jq', '.file'],
  ['--fields', 'file'],
  ['--output', 'json'],
])('svc au download --out - refuses %s, since its output is the result file', async (...option) => {
  const { machine, run } = await submittedOnce('--wait');
  const { code, stdout, stderr } = await machine.svc(['au', 'download', run, '--out', '-', ...option]);
  expect([code, stdout], stderr).toEqual([2, '']);
  expect(stderr).toContain('with --out - the output is the result file');
});
