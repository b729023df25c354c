import { writeFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { type Bench, type Fault, inTurn, openBench, refuseWith, submitFile } from '../support.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { waitForJob } from '../../../src/au/job/wait.ts';
import { nextPollDelay } from '../../../src/client/api/poll.ts';

const DAY = 86_400_000;

describe('how often a job is polled', () => {
  it('R42: the polling interval grows from seconds to a minute, and to five minutes for the days after the first hour', () => {
    fc.assert(
      fc.property(
        fc.nat(5_000),
        fc.nat(7 * DAY),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (look, waited, random) => {
          const ms = nextPollDelay(look, waited, () => random);
          expect(ms).toBeGreaterThanOrEqual(2_000);
          expect(ms).toBeLessThanOrEqual((waited < 3_600_000 ? 60_000 : 300_000) * 1.2 + 1);
          expect(nextPollDelay(look + 1, waited, () => 0)).toBeGreaterThanOrEqual(nextPollDelay(look, waited, () => 0));
        },
      ),
    );
  });

  it('R42: the polling interval takes few looks for seven days', () => {
    let looks = 0;
    for (let waited = 0; waited < 7 * DAY; looks += 1) waited += nextPollDelay(looks, waited, () => 0.5);
    expect(looks).toBeLessThan(2_200);
  });
});

const ok: Fault = (_incoming, _outgoing, proceed) => proceed();

const odd: Fault = (_incoming, outgoing) =>
  outgoing.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"1","status":"pondering"}');

describe('waiting for a job', () => {
  let bench: Bench;
  afterEach(() => bench.close());

  async function submitted(fault?: Fault): Promise<string> {
    bench = await openBench(fault);
    return submitFile(bench);
  }

  function wait(id: string, limitMs?: number): Promise<unknown> {
    return waitForJob(bench.client, id, { limitMs, random: () => 0, onEvent: (event) => bench.events.push(event) });
  }

  it('R43: the wait for a job tells the errors of a failed job', async () => {
    bench = await openBench();
    writeFileSync(bench.file, 'not,a,request\n');
    const id = await submitFile(bench);
    await expect(wait(id)).rejects.toMatchObject({
      code: 'job_failed',
      exitCode: 10,
      facts: { job: id, errors: [expect.any(String)] },
    });
  });

  it('R43: the wait for a job says that a job vanished', async () => {
    bench = await openBench();
    const { id } = await bench.client.accountUpdater.create();
    await expect(wait(id)).rejects.toMatchObject({ code: 'job_expired', exitCode: 5 });
    expect(bench.clock.slept.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(3_000_000);
  });

  it('R43: the wait for a job continues for a status that it does not know', async () => {
    bench = await openBench((incoming, outgoing, proceed) =>
      (bench.clock.slept.length < 3 ? odd : (_i: unknown, _o: unknown, go: () => void) => go())(
        incoming,
        outgoing,
        proceed,
      ),
    );
    await expect(wait('1')).rejects.toMatchObject({ code: 'job_expired' });
    const seen = bench.events.flatMap((event) => ('status' in event ? event.status : []));
    expect(seen).toEqual(['pondering', 'pondering', 'pondering']);
  });

  it.each([
    ['of its own', 'application/json', '{"title":"Not Found"}'],
    ['of a gateway', 'text/html', '<h1>Not Found</h1>'],
  ])('R43 and R58: the wait for a job does not take one 404 %s for the end of a job', async (_name, type, body) => {
    const notFound: Fault = (_incoming, outgoing) => outgoing.writeHead(404, { 'content-type': type }).end(body);
    const id = await submitted(inTurn('GET', /jobs\/[^/]+$/, ok, notFound, notFound));
    expect(await wait(id)).toMatchObject({ status: 'completed' });
    expect(bench.events.filter(({ kind }) => kind === 'unreachable')).toHaveLength(2);
  });

  it('R42: the wait for a job survives outages of every kind and says why it is cut off', async () => {
    let down = false;
    const id = await submitted((incoming, outgoing, proceed) => {
      const statuses = [500, 503, 429, 502];
      const status = statuses[bench.clock.slept.length % statuses.length] ?? 500;
      if (down && bench.clock.slept.length < 12) refuseWith(status)(incoming, outgoing, proceed);
      else proceed();
    });
    down = true;
    expect(await wait(id)).toMatchObject({ status: 'completed' });
    expect(bench.events.map(({ kind }) => kind)).toContain('unreachable');
  });

  it('R42: the wait for a job goes on for 15 minutes in an outage from its beginning, when nothing is known of the job', async () => {
    let isDown = false;
    const id = await submitted((...incoming) => (isDown ? refuseWith(503) : ok)(...incoming));
    isDown = true;
    await expect(wait(id)).rejects.toMatchObject({ code: 'server' });
    const waited = bench.clock.slept.reduce((sum, ms) => sum + ms, 0);
    expect(waited).toBeGreaterThanOrEqual(15 * 60_000);
    expect(waited).toBeLessThan(DAY / 24);
  });
});
