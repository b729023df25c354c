import { readdirSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { captureResponse } from '../../../src/emulator/faults/intercept.ts';
import { type Machine, openMachine } from '../commands/machine.ts';
import { ended, succeeded } from '../../support/run-here.ts';

const SUBMIT = 'au submit tokens.csv --out results.csv';

function replaceBody(outgoing: ServerResponse, old: string, text: string): void {
  captureResponse(outgoing, (body) => {
    const changed = body.toString().replaceAll(old, text);
    outgoing.setHeader('content-length', Buffer.byteLength(changed)).end(changed);
  });
}

/** Makes the store send results with a wrong ETag and wrong codes. */
function falseResults(machine: Machine): void {
  machine.fault = (incoming, outgoing, proceed) => {
    if (incoming.url?.startsWith('/store/results/')) {
      outgoing.setHeader('etag', `"${'0'.repeat(32)}"`);
      replaceBody(outgoing, 'UPD_PAN', 'WRN_PAN');
      const setHeader = outgoing.setHeader.bind(outgoing);
      outgoing.setHeader = (name, value) => (name.toLowerCase() === 'etag' ? outgoing : setHeader(name, value));
    }
    proceed();
  };
}

/** Makes the service report one job as failed. */
function failingJob(machine: Machine, job: string): void {
  machine.fault = (incoming, outgoing, proceed) => {
    if (incoming.method === 'GET' && incoming.url?.endsWith(`/jobs/${job}`))
      replaceBody(outgoing, '"completed"', '"failed"');
    proceed();
  };
}

it('the files of a job keep neither refused results nor half of a download once its results are proven whole', async () => {
  const machine = await openMachine();
  falseResults(machine);
  ended(await machine.svc(`${SUBMIT} --wait`), 12);
  const { directory } = machine.files(machine.jobs()[0] ?? '');
  writeFileSync(join(directory, 'results.csv.svc-part'), 'token,');
  writeFileSync(join(directory, 'results.csv.svc-part.json'), '{"format":1,"etag":"\\"other\\"","total":99}');
  expect(readdirSync(directory)).toContain('results.csv.unproven');
  machine.fault = undefined;
  succeeded(await machine.svc(`${SUBMIT} --wait`));
  expect(readdirSync(directory)).toEqual(['request.csv', 'results.csv', 'sent']);
});

it('R59: kept results let svc au resume --wait end with 0 although the service says later that the job failed', async () => {
  const machine = await openMachine();
  succeeded(await machine.svc(`${SUBMIT} --cycle 2026-11 --wait`));
  failingJob(machine, machine.jobs()[0] ?? '');
  ended(await machine.svc('au resume 2026-11 --wait --out again.csv'), 0, { uploads: 1 });
});
