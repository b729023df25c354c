import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { captureResponse } from '../../../src/emulator/faults/intercept.ts';
import { type Machine, openMachine } from '../commands/machine.ts';

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

describe('results that are kept unproven of a job that fails', () => {
  it('R59: results that are kept unproven of a job that fails are not taken for the results of the job that is submitted after it', async () => {
    const machine = await openMachine();
    falseResults(machine);
    const refused = await machine.svc(`${SUBMIT} --wait`);
    expect(refused.code, refused.stderr).toBe(12);
    const place = `state/runs/${machine.runIds()[0]}`;
    const [before] = machine.record(place).parts;
    expect(before).toMatchObject({ state: 'completed', unproven: { job: before?.job } });
    failingJob(machine, before?.job ?? '');
    expect(await machine.svc(`au resume ${machine.runIds()[0]} --wait`)).toMatchObject({ code: 10 });
    const again = await machine.svc(SUBMIT);
    expect(again.code, again.stderr).toBe(0);
    expect(await machine.svc(`au status ${machine.runIds()[0]}`)).toMatchObject({ code: 0 });
    expect(machine.record(place).parts).toMatchObject([{ state: 'completed', earlier_jobs: [{ job: before?.job }] }]);
    const taken = await machine.svc(`au download ${machine.runIds()[0]} --accept-unproven`);
    expect(taken.code, taken.stderr).toBe(0);
    expect(readFileSync(machine.path('work/results.csv'), 'utf8')).not.toContain('WRN_PAN');
    const [after] = machine.record(place).parts;
    expect(after).toMatchObject({ state: 'downloaded', results: { job: after?.job } });
    expect(after?.results?.proof).not.toBe('operator');
  });
});

/** Creates a run whose results were refused, and whose next download was cut off. */
async function halfDownloaded() {
  const machine = await openMachine();
  falseResults(machine);
  expect(await machine.svc(`${SUBMIT} --wait`)).toMatchObject({ code: 12 });
  const [run = ''] = machine.runIds();
  const directory = machine.path(`state/runs/${run}`);
  writeFileSync(join(directory, 'results-0001.csv.svc-part'), 'token,');
  writeFileSync(join(directory, 'results-0001.csv.svc-part.json'), '{"format":1,"etag":"\\"other\\"","total":99}');
  expect(readdirSync(directory)).toContain('results-0001.csv.unproven');
  return { machine, run, files: () => readdirSync(directory) };
}

describe('the directory of a run that has ended', () => {
  it('the directory of a run that has ended keeps neither refused results nor half of a download once others are proven whole', async () => {
    const { machine, run, files } = await halfDownloaded();
    machine.fault = undefined;
    expect(await machine.svc(`au resume ${run} --wait`)).toMatchObject({ code: 0 });
    expect(files()).toEqual(['results-0001.csv', 'run-request.csv', 'run.json']);
  });

  it('the directory of a run that has ended keeps no half of a download after its job has failed, and what can still be accepted', async () => {
    const { machine, run, files } = await halfDownloaded();
    failingJob(machine, machine.record(`state/runs/${run}`).parts[0]?.job ?? '');
    expect(await machine.svc(`au resume ${run} --wait`)).toMatchObject({ code: 10 });
    expect(files()).toEqual(['results-0001.csv.unproven', 'run-request.csv', 'run.json']);
  });

  it('the directory of a run that has ended keeps no half of a download after it is abandoned, and what can still be accepted', async () => {
    const { machine, run, files } = await halfDownloaded();
    expect(await machine.svc(`au abandon ${run} --yes`)).toMatchObject({ code: 0 });
    expect(files()).toEqual(['results-0001.csv.unproven', 'run-request.csv', 'run.json']);
  });
});

it.each([
  ['of the present job', 0, undefined],
  ['of the failed job before', 10, 'job-0'],
] as const)(
  'R59: stored results %s let svc au resume --wait end with %i once the job of the run has failed',
  async (_, code, earlier) => {
    const machine = await openMachine();
    expect(await machine.svc(`${SUBMIT} --wait`)).toMatchObject({ code: 0 });
    const [run = ''] = machine.runIds();
    const { results: _written, ...record } = machine.record(`state/runs/${run}`);
    const [part] = record.parts;
    const results = { ...part?.results, job: earlier ?? part?.job };
    const parts = [{ ...part, state: 'completed', results }];
    writeFileSync(machine.path(`state/runs/${run}/run.json`), JSON.stringify({ ...record, parts }));
    failingJob(machine, part?.job ?? '');
    const waited = await machine.svc(`au resume ${run} --wait --force`);
    expect(waited.code, waited.stderr).toBe(code);
  },
);
