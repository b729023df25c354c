import { writeFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { readFaults } from '../../src/emulator/faults/fault.ts';
import { faultInterceptor } from '../../src/emulator/faults/intercept.ts';
import type { Interceptor } from '../../src/emulator/options.ts';
import { openQuickDesk, type QuickDesk } from '../au/commands/support.ts';
import { exampleRequestFile } from '../../src/emulator/vault/cards.ts';
import { FakeClock } from '../support/clock.ts';
import { svcHere } from '../support/run-here.ts';
import { Home } from '../support/svc.ts';

const DAY = 86_400_000;
const JOB = 'GET /account-updater/jobs/*';
const LIST = 'GET /account-updater/jobs';
const PUT = 'PUT /store/requests/*';
const PAGE = '404,content-type=text/html,body=<h1>Not Found</h1>';

/** How the store responds to the upload, and whether it keeps the file. */
const STORES: readonly (readonly [name: string, faults: readonly string[], isKept: boolean])[] = [
  ['acknowledges the file', [], true],
  ['keeps the file and answers 500', [`500,applied@${PUT}`], true],
  ['keeps the file and answers 503', [`503,applied@${PUT}`], true],
  ['keeps the file and resets', [`reset,applied@${PUT}`], true],
  ['answers 500 and keeps nothing', [`500@${PUT}`], false],
];

const JOBS: readonly (readonly [name: string, faults: readonly string[]])[] = [
  ['is not found twice', [`404@${JOB}:#1-2`]],
  ['is never found', [`404@${JOB}`]],
  ['is hidden twice by a gateway', [`${PAGE}@${JOB}:#1-2`]],
  // The first submission reads two lists before it uploads the file, and sends nothing without them.
  ['is always hidden by a gateway', [`${PAGE}@${JOB}`, `${PAGE}@${LIST}:#3-`]],
];

const CASES = STORES.flatMap(([store, put, isKept]) =>
  JOBS.map(([job, get]) => ({
    store,
    job,
    faults: [...put, ...get],
    isKept,
    // Where no read names the tenant, each submission creates a job for that.
    jobs: job === 'is always hidden by a gateway' ? 2 : 1,
  })),
);

/** Opens a desk whose sandbox has these faults until they are lifted. */
async function faultyDesk(faults: readonly string[], clock?: FakeClock): Promise<QuickDesk & { lift: () => void }> {
  let current: Interceptor = faultInterceptor(readFaults(faults.join('\n')).faults);
  const desk = await openQuickDesk({
    intercept: (incoming, outgoing, proceed) => current(incoming, outgoing, proceed),
    ...(clock && { clock }),
  });
  return { ...desk, lift: () => (current = (_incoming, _outgoing, proceed) => proceed()) };
}

function jobsCreated({ sandbox }: QuickDesk): number {
  return sandbox.ledger().filter(({ method }) => method === 'POST').length;
}

const SUBMIT = 'au submit tokens.csv --wait --timeout 2s';

/** Loads what a submission loads: to the clock of a desk, the first load is a pause in which a time limit can end. */
beforeAll(async () => {
  const home = new Home();
  writeFileSync(home.file('tokens.csv'), exampleRequestFile());
  const words = ['--sandbox', 'au', 'submit', home.file('tokens.csv'), '--wait', '--out', home.file('out.csv')];
  await svcHere(words, { home: home.path, env: home.environment() });
});

it.each(CASES)('R58: a file is paid once where the store $store and the job $job', async ({ faults, isKept, jobs }) => {
  const desk = await faultyDesk(faults);
  for (const line of [SUBMIT, 'au resume', SUBMIT]) {
    const { code, stderr } = await desk.svc(line);
    // A page of a gateway in the place of the list ends with 5.
    expect([0, 5, 8, 9, 11], stderr).toContain(code);
  }
  desk.lift();
  const round = await desk.svc('au resume --quiet');
  const last = await desk.svc('au submit tokens.csv --wait --timeout 8s');
  expect(last, last.stderr).toMatchObject({ code: isKept ? 0 : 9 });
  // While a file is in doubt, the output says when that ends, and never suggests paying again.
  const ways = /(known|settled) at [\d-]+ [\d:]+Z by the service's clock/;
  for (const { stderr } of [round, last]) {
    expect(ways.test(stderr), stderr).toBe(!isKept);
    expect(stderr).not.toContain('au abandon');
  }
  expect({ uploads: desk.uploads(), jobs: jobsCreated(desk) }).toEqual({ uploads: isKept ? 1 : 0, jobs });
});

it('R58: a file is paid once though neither the job nor the list shows it after a fortnight without a sync', async () => {
  const clock = new FakeClock({ start: Date.now() });
  const empty = '200,content-type=application/json,body={"data":[]}';
  const desk = await faultyDesk([`404@${JOB}`, `${empty}@${LIST}`], clock);
  expect(await desk.svc('au submit tokens.csv')).toMatchObject({ code: 0 });
  for (let round = 0; round < 3; round += 1) {
    await clock.advance(14 * DAY);
    const { code, stderr } = await desk.svc('au resume');
    expect([9, 11], stderr).toContain(code);
  }
  // The service's clock alone proves nothing: by this machine's clock, only minutes have passed.
  const [job = ''] = desk.jobs();
  const last = await desk.svc(`au resume ${job} --wait --timeout 5s`);
  expect([9, 11], last.stderr).toContain(last.code);
  expect({ uploads: desk.uploads(), jobs: jobsCreated(desk) }).toEqual({ uploads: 1, jobs: 1 });
  await desk.clock.advance(60 * DAY);
  const doubt = await desk.svc('au submit tokens.csv');
  expect(doubt.code, doubt.stderr).toBe(9);
  expect(desk.uploads()).toBe(1);
});
