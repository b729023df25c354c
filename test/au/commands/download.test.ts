import { expect, it } from 'vitest';
import { submittedOnce } from './machine.ts';

it('svc au download names the job whose results it wrote', async () => {
  const { machine, job } = await submittedOnce('--wait');
  const file = machine.path('job.csv');
  const { stdout } = await machine.svc(['au', 'download', job, '--out', file]);
  expect(JSON.parse(stdout)).toMatchObject({ job, file, compared: true });
});

it.each([
  ['--jq', '.file'],
  ['--fields', 'file'],
  ['--output', 'json'],
])('svc au download --out - refuses %s, since its output is the result file', async (...option) => {
  const { machine, job } = await submittedOnce('--wait');
  const { code, stdout, stderr } = await machine.svc(['au', 'download', job, '--out', '-', ...option]);
  expect([code, stdout], stderr).toEqual([2, '']);
  expect(stderr).toContain('with --out - the output is the result file');
});
