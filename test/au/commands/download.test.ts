import { expect, it } from 'vitest';
import { submittedOnce } from './machine.ts';

it('svc au download names the job whose results it wrote', async () => {
  const { machine, job } = await submittedOnce('--wait');
  const file = machine.path('job.csv');
  const { stdout } = await machine.svc(['au', 'download', job, '--out', file]);
  expect(JSON.parse(stdout)).toMatchObject({ job, file, compared: true });
});

it('svc au download --out - refuses --jq, --fields and --output, since its output is the result file', async () => {
  const { machine, job } = await submittedOnce('--wait');
  for (const option of ['--jq .file', '--fields file', '--output json']) {
    const { code, stdout, stderr } = await machine.svc(`au download ${job} --out - ${option}`);
    expect([code, stdout], stderr).toEqual([2, '']);
    expect(stderr).toContain('with --out - the output is the result file');
  }
});
