import { expect, it } from 'vitest';
import { ended, succeeded } from '../../support/run-here.ts';
import { inTurn, refuseWith } from '../support.ts';
import { submittedOnce } from './machine.ts';

const NOT_FOUND = refuseWith(404, '{"title":"Not Found","status":404}');

it('svc au download names the job whose results it wrote', async () => {
  const { machine, job } = await submittedOnce('--wait');
  const file = machine.path('job.csv');
  const { stdout } = await machine.svc(['au', 'download', job, '--out', file]);
  expect(JSON.parse(stdout)).toMatchObject({ job, file, compared: true });
});

it('svc au download --out - refuses --jq, --fields and --output, since its output is the result file', async () => {
  const { machine, job } = await submittedOnce('--wait');
  for (const option of ['--jq .file', '--fields file', '--output json']) {
    ended(await machine.svc(`au download ${job} --out - ${option}`), 2, 'with --out - the output is the result file', {
      stdout: '',
    });
  }
});

it('svc au download enters that the results were received, where only the last read of the job shows its tenant', async () => {
  const { machine, job } = await submittedOnce();
  await machine.clock.advance(60_000);
  const isHidden = inTurn('GET', /\/jobs\/[^/?]+$/, NOT_FOUND);
  machine.fault = (incoming, outgoing, proceed) =>
    /\/jobs\?|\/tenants\/self$/.test(incoming.url ?? '')
      ? refuseWith(403)(incoming, outgoing, proceed)
      : isHidden(incoming, outgoing, proceed);
  succeeded(await machine.svc(['au', 'download', job, '--out', machine.path('job.csv')]));
  machine.fault = undefined;
  const { stdout } = await machine.svc('au status');
  expect(stdout).toBe('');
});
