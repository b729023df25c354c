import { existsSync, rmSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { captureResponse } from '../../../src/emulator/faults/intercept.ts';
import type { Part } from '../../../src/au/run/part.ts';
import { errorIn, rowOf } from '../../support/run-here.ts';
import { ALL, CYCLE, dividedDesk } from '../send/divided-desk.ts';

// A low limit splits even small files into several parts.
vi.mock('../../../src/schema/account-updater-files.ts', async (original) => ({
  ...(await original<object>()),
  MAX_REQUEST_FILE_ROWS: 3,
}));

const tokenOf = (row: string): string => row.slice(0, 36);

/** A desk whose run has two parts that wait for one job, sent from another state directory. */
async function openDesk() {
  let forgotten: string | undefined;
  /** The service forgets this job once its results were read. */
  let shy: string | undefined;
  let reads = 0;
  const desk = await dividedDesk(ALL, 'other', {
    intercept: ({ method, url = '' }, outgoing, proceed) => {
      if (method === 'GET' && forgotten !== undefined && url.includes(`/jobs/${forgotten}`)) {
        outgoing.setHeader('content-type', 'application/json');
        return void outgoing.writeHead(404).end('{"title":"Not Found","status":404}');
      }
      if (method === 'GET' && /\/jobs(?:\?|$)/.test(url))
        captureResponse(outgoing, (body) => {
          const list = JSON.parse(body.toString()) as { readonly data: readonly { readonly id: string }[] };
          const text = JSON.stringify({ ...list, data: list.data.filter(({ id }) => id !== forgotten) });
          outgoing.setHeader('content-length', Buffer.byteLength(text)).end(text);
        });
      if (shy !== undefined && url.includes('/store/results/') && url.includes(shy)) {
        reads += 1;
        forgotten = shy;
      }
      proceed();
    },
  });
  expect((await desk.svc(`au submit all.csv ${CYCLE}`)).code).toBe(0);
  const joined = desk.parts().flatMap(({ joined: by, job }) => (by === undefined ? [] : (job ?? '')));
  const [job = ''] = joined;
  expect(joined).toEqual([job, job]);
  return {
    ...desk,
    job,
    place: `state/runs/${desk.run()}`,
    reads: () => reads,
    forget: () => (forgotten = job),
    forgetOnceRead: () => (shy = job),
  };
}

/** Takes the results from the last of the parts that wait for the job, as if svc had been killed before it had them. */
function takeBack({ desk, place, parts, job }: Awaited<ReturnType<typeof openDesk>>, state: Part['state'], count = 1) {
  const last = parts()
    .filter((part) => part.job === job)
    .slice(-count)
    .map(({ number }) => number);
  desk.change(place, (record) => {
    Object.assign(record, { results: undefined });
    for (const part of record.parts) {
      if (!last.includes(part.number)) continue;
      Object.assign(part, { state, sent: state === 'unknown' ? 'all' : 'stored', results: undefined });
    }
  });
  for (const number of last) rmSync(desk.home.file(`${place}/results-${String(number).padStart(4, '0')}.csv`));
}

describe('a run of which one part has the results of a job that another part waits for', () => {
  it('results are downloaded once for all parts that wait for their job, which the service may forget then', async () => {
    const desk = await openDesk();
    desk.forgetOnceRead();
    const done = rowOf(await desk.svc(`au resume ${desk.run()} --out d.csv`));
    expect(done).toMatchObject({ status: 'completed', results: { updated: 12 } });
    expect(desk.reads()).toBe(1);
    expect(desk.lines('d.csv').map(tokenOf)).toEqual(ALL.map(tokenOf));
  });

  it.each(['uploaded', 'unknown', 'failed'] as const)(
    'the part takes these results where it is recorded as %s and the service has forgotten the job',
    async (state) => {
      const desk = await openDesk();
      const run = desk.run();
      rowOf(await desk.svc(`au resume ${run} --out results.csv`));
      const expected = desk.lines('results.csv');
      desk.forget();
      for (const [at, line] of [
        `au resume ${run}`,
        `au resume ${run} --wait`,
        `au submit all.csv ${CYCLE} --wait`,
        `au download ${run}`,
      ].entries()) {
        takeBack(desk, state);
        const { code, stderr } = await desk.svc(`${line} --out again-${at}.csv`);
        expect([line, code], stderr).toEqual([line, 0]);
        expect([line, desk.lines(`again-${at}.csv`)]).toEqual([line, expected]);
      }
    },
  );

  it('au resume of the run does not show it as completed where nobody here has the results of a forgotten job', async () => {
    const desk = await openDesk();
    const run = desk.run();
    rowOf(await desk.svc(`au resume ${run} --out results.csv`));
    takeBack(desk, 'uploaded', 2);
    desk.forget();
    const unsettled = await desk.svc(`au resume ${run} --out again.csv`);
    expect(unsettled.code, unsettled.stderr).toBe(9);
    expect(unsettled.stderr.split('was not found (404)')).toHaveLength(2);
    const { code, stdout, stderr } = await desk.svc(`au resume ${run} --out again.csv`);
    expect([code, stdout], stderr).toEqual([9, '']);
    expect(errorIn({ stderr })['message']).toContain(
      `does not find job ${desk.job} of run ${run}, whose results were read before`,
    );
    expect(existsSync(desk.desk.home.file('again.csv'))).toBe(false);
  });
});
