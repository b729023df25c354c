import { rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { captureResponse } from '../../../src/emulator/faults/intercept.ts';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { openQuickDesk, type QuickDesk } from './support.ts';

const DAY = 86_400_000;

async function refusal(word: string): Promise<unknown> {
  return errorIn(await svcHere(['--sandbox', 'au', 'abandon', word]))['message'];
}

it('svc au abandon names the word that is no run, unless it may be a secret', async () => {
  expect(await refusal('nope')).toBe('no run is named "nope", and no rows of such a job were found in the ledger');
  expect(await refusal('key_7Qz4Xw91')).not.toContain('7Qz4');
});

/** What the service says of a job in its next reads; the last one stays. Without any, the service says what is true. */
interface Said {
  statuses: string[];
  /** The job that lists leave out while it is forgotten. */
  job?: string;
  /** The status of all jobs in lists while reads do not find them. */
  listed?: string;
}

/** Lets a week pass after which the service does not know the job any more. */
async function forget(desk: Awaited<ReturnType<typeof sentDesk>>): Promise<void> {
  await desk.clock.advance(8 * DAY);
  Object.assign(desk.said, { statuses: ['forgotten'], job: desk.job });
  // The list shows whose the key is.
  expect(await desk.svc('au create')).toMatchObject({ code: 0 });
}

async function sentDesk(options = '', env = {}): Promise<QuickDesk & { readonly job: string; readonly said: Said }> {
  const said: Said = { statuses: [] };
  const desk = await openQuickDesk({
    intercept: (incoming, outgoing, proceed) => {
      if (said.statuses[0] === 'forgotten' && incoming.method === 'GET' && incoming.url?.includes('/jobs?')) {
        captureResponse(outgoing, (body) => {
          const list = JSON.parse(body.toString()) as { readonly data: readonly { readonly id: string }[] };
          const data = list.data.filter(({ id }) => id !== said.job);
          const shown = said.listed && { status: said.listed };
          const listed = data.map((job) => Object.assign(job, shown));
          const text = JSON.stringify({ ...list, data: listed });
          outgoing.setHeader('content-length', Buffer.byteLength(text)).end(text);
        });
        return proceed();
      }
      const isRead = incoming.method === 'GET' && /\/jobs\/[^/]+$/.test(incoming.url ?? '');
      const status = isRead && said.statuses.length > 1 ? said.statuses.shift() : said.statuses[0];
      if (!isRead || status === undefined) return proceed();
      if (status === 'forgotten') {
        const problem = { 'content-type': 'application/problem+json' };
        return void outgoing.writeHead(404, problem).end('{"title":"Not Found","status":404}');
      }
      captureResponse(outgoing, (body) => {
        const text = JSON.stringify({ ...(JSON.parse(body.toString()) as object), status });
        outgoing.setHeader('content-length', Buffer.byteLength(text)).end(text);
      });
      return proceed();
    },
  });
  const { code, stdout, stderr } = await desk.svc(`au submit tokens.csv --cycle 2026-12${options}`, env);
  expect(code, stderr).toBe(0);
  return { ...desk, said, job: (JSON.parse(stdout) as { readonly job: string }).job };
}

it.each([
  { status: 'completed', next: 'svc au download' },
  { status: 'processing', next: 'svc au resume' },
])('R79: svc au abandon frees no rows of a job that is $status', async ({ status, next }) => {
  const desk = await sentDesk();
  desk.said.statuses = [status];
  const refused = await desk.svc(`au abandon ${desk.job} --yes`);
  expect(refused, refused.stderr).toMatchObject({ code: 6, stdout: '' });
  expect(errorIn(refused)).toMatchObject({ job: desk.job, next: expect.stringContaining(`${next} ${desk.job}`) });
  desk.said.statuses = [];
  await desk.svc('au submit tokens.csv --cycle 2026-12 --wait');
  expect(desk.uploads()).toBe(1);
});

it('R79: svc au abandon frees no rows of a job whose file the store confirmed, although the service says that it is pending', async () => {
  const desk = await sentDesk();
  desk.said.statuses = ['pending'];
  const refused = await desk.svc(`au abandon ${desk.job} --yes`);
  expect(refused, refused.stderr).toMatchObject({ code: 6, stdout: '' });
  const { message, next } = errorIn(refused);
  expect([message, next]).toEqual([
    `the rows of job ${desk.job} are not free: the store confirmed its file`,
    `svc au resume ${desk.job} --wait`,
  ]);
});

it.each([
  { status: 'pending', isElsewhere: true },
  { status: 'failed', isElsewhere: false },
  { status: 'forgotten', isElsewhere: true },
])(
  'svc au abandon frees the rows of a job that is $status once, prints them like a run, and says later that the job holds none',
  async ({ status, isElsewhere }) => {
    const desk = await sentDesk();
    if (status === 'forgotten') await forget(desk);
    else desk.said.statuses = [status];
    if (isElsewhere) rmSync(desk.home.file('.local/state/svc/runs'), { recursive: true });
    const abandon = async (): Promise<readonly [row: unknown, stderr: string]> => {
      const { code, stdout, stderr } = await desk.svc(`au abandon ${desk.job} --yes`);
      expect(code, stderr).toBe(0);
      return [JSON.parse(stdout), stderr];
    };
    const ofJob = { cycle: '2026-12', jobs: [desk.job], job_count: 1 };
    expect(await abandon()).toEqual([
      expect.objectContaining({ ...ofJob, status: 'abandoned', progress: 'rows are free' }),
      expect.stringContaining(`the rows of job ${desk.job} are free: the next submission`),
    ]);
    expect((await desk.svc('au submit tokens.csv --cycle 2026-12')).code).toBe(0);
    expect(desk.uploads()).toBe(2);
    // Another job has the rows now, so that nothing may be said of them.
    expect(await abandon()).toEqual([
      expect.objectContaining({ ...ofJob, status: null, progress: 'holds no rows any more' }),
      expect.stringContaining(`job ${desk.job} holds no rows any more; nothing was changed`),
    ]);
  },
);

it('svc au abandon warns that another machine may be uploading the file of a job that is pending', async () => {
  const desk = await sentDesk();
  desk.said.statuses = ['pending'];
  rmSync(desk.home.file('.local/state/svc/runs'), { recursive: true });
  const { code, stderr } = await desk.svc(`au abandon ${desk.job} --yes`);
  expect(code, stderr).toBe(0);
  expect(stderr).toMatch(/warning: svc of \S+@\S+ may be uploading its file now: make sure that it has ended/);
});
