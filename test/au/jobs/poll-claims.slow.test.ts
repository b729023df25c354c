import { expect, it } from 'vitest';
import type { Interceptor } from '../../../src/emulator/options.ts';
import { errorIn } from '../../support/run-here.ts';
import { openQuickDesk, writeRows } from '../commands/support.ts';
import { changeJson } from '../support.ts';

const LINE = 'au submit tokens.csv --wait --accept merchants';

/** Returns rows of one token, which need a job for each merchant. */
function rowsFor(merchants: number): string[] {
  return Array.from({ length: merchants }, (_, at) => `00000000-0000-4000-8000-000000000001,,,M${at}`);
}

/** Changes what the service says of each job, by itself and in the list. */
function saying(change: (job: Readonly<Record<string, unknown>>) => object): Interceptor {
  return (incoming, outgoing, proceed) => {
    if (incoming.method === 'GET' && incoming.url?.startsWith('/account-updater/jobs') === true)
      changeJson(outgoing, (answer: { readonly data?: readonly Record<string, unknown>[] }) =>
        answer.data ? { ...answer, data: answer.data.map(change) } : change(answer),
      );
    proceed();
  };
}

it('R18: the wait for twelve jobs gets no 429 from a service that enforces its limits', async () => {
  const desk = await openQuickDesk({ limits: 'on', pickupMs: 0 });
  writeRows(desk, 'tokens.csv', ...rowsFor(12));
  const { code, stderr } = await desk.svc(LINE, { SVC_PACING: 'on' });
  expect([code, desk.uploads()], stderr).toEqual([0, 12]);
  expect(desk.sandbox.ledger().filter(({ status }) => status === 429)).toEqual([]);
  expect(desk.sandbox.ledger().length).toBeGreaterThan(50);
});

it('R53: the line of a wait for several jobs counts those that failed among the others, whose rows the same command sends again', async () => {
  const created: string[] = [];
  let reads = 0;
  const intercept = saying((job) => {
    const id = String(job['id']);
    if (!created.includes(id)) created.push(id);
    reads += 1;
    if (job['status'] === 'pending') return job;
    if (id === created[0]) return { ...job, status: 'failed', errors: ['made up'] };
    return reads < 20 ? { ...job, status: 'processing' } : job;
  });
  const desk = await openQuickDesk({ pickupMs: 0, intercept });
  writeRows(desk, 'tokens.csv', ...rowsFor(3));
  const ended = await desk.svc(LINE);
  const { code, stderr } = ended;
  expect(code, stderr).toBe(10);
  expect(errorIn(ended)['next']).toBe('svc au submit tokens.csv --accept merchants --wait');
  expect(stderr).toMatch(/tokens\.csv in 3 jobs: (1 failed, 2 processing|2 processing, 1 failed), next poll in/);
});

it('R37: a job that is removed before its upload gets a successor, and both are named', async () => {
  let removed: string | undefined;
  const intercept: Interceptor = (incoming, outgoing, proceed) => {
    const { method, url = '' } = incoming;
    removed ??= method === 'PUT' ? /requests\/([\w-]+)/.exec(url)?.[1] : undefined;
    if (removed === undefined || !url.includes(removed)) return proceed();
    incoming.resume();
    if (method === 'PUT') outgoing.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
    else outgoing.writeHead(404, { 'content-type': 'application/problem+json' }).end('{"title":"not found"}');
  };
  const desk = await openQuickDesk({ pickupMs: 0, intercept });
  const { code, stderr } = await desk.svc('au submit tokens.csv --wait');
  expect([code, desk.uploads()], stderr).toEqual([0, 1]);
  expect(stderr.match(/created job [\w-]+/g)).toHaveLength(2);
  expect(stderr).toContain(`job ${removed} was removed before its file was uploaded`);
});
