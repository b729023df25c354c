import { expect, it, vi } from 'vitest';
import { cycleOrJob } from '../../../src/au/jobs/named-cycle.ts';
import { SvcError } from '../../../src/base/errors.ts';
import { openMachine } from '../commands/machine.ts';
import { ended, succeeded } from '../../support/run-here.ts';

it.each(['job_01HXYZ', '12345'])(
  'svc au status and resume read the job %s from the service where no cycle has that name',
  async (id) => {
    const machine = await openMachine();
    const { job } = JSON.parse((await machine.svc('au submit tokens.csv -o json')).stdout) as { job: string };
    machine.fault = (incoming, _outgoing, proceed) => {
      incoming.url = incoming.url?.replace(`jobs/${id}`, `jobs/${job}`);
      proceed();
    };
    await machine.clock.advance(60_000);
    for (const line of [`au status ${id} -o json`, `au resume ${id} -o json`])
      ended(await machine.svc(line), 0, { row: { id: job, status: 'completed' } });
    ended(
      await machine.svc('au status job_unknown'),
      5,
      'the ledger has no such cycle, and the service has no such job',
    );
    // A cycle of that name comes first.
    succeeded(await machine.svc('au submit tokens.csv --cycle 12345 --pay-again'));
    expect((await machine.svc('au status 12345 -o json')).stdout).toContain('results_read');
  },
);

it('svc au resume ends with 8 where something else answers the list of jobs with a page and 404', async () => {
  const machine = await openMachine();
  succeeded(await machine.svc('au submit tokens.csv --cycle c'));
  machine.fault = (_incoming, outgoing) => outgoing.writeHead(404, { 'content-type': 'text/html' }).end('<p>lost</p>');
  ended(await machine.svc('au resume'), 8, 'svc doctor');
});

it('a 404 of a store is no reason to look for a job with the name of a cycle', async () => {
  const refused = new SvcError('not_found', 'the bucket does not exist');
  const looked = vi.fn<() => Promise<undefined>>();
  await expect(cycleOrJob(() => Promise.reject(refused), looked)).rejects.toBe(refused);
  expect(looked).not.toHaveBeenCalled();
});
