import { openQuickDesk, type QuickDesk } from './support.ts';
import { changeJson } from '../support.ts';
import { succeeded } from '../../support/run-here.ts';

export const DAY = 86_400_000;

/** What the service says of a job in its next reads; the last one stays. Without any, the service says what is true. */
export interface Said {
  statuses: string[];
  /** The job that lists leave out while it is forgotten. */
  job?: string;
  /** The status of all jobs in lists while reads do not find them. */
  listed?: string;
}

/** Lets a week pass after which the service does not know the job any more. */
export async function forget(desk: Awaited<ReturnType<typeof sentDesk>>): Promise<void> {
  await desk.clock.advance(8 * DAY);
  await hide(desk);
}

/** Lets the service not find the job, and show another one, which says whose the key is. */
export async function hide(desk: Awaited<ReturnType<typeof sentDesk>>): Promise<void> {
  Object.assign(desk.said, { statuses: ['forgotten'], job: desk.job });
  succeeded(await desk.svc('au create'));
}

export async function sentDesk(
  options = '',
  env = {},
): Promise<QuickDesk & { readonly job: string; readonly said: Said }> {
  const said: Said = { statuses: [] };
  const desk = await openQuickDesk({
    intercept: (incoming, outgoing, proceed) => {
      if (said.statuses[0] === 'forgotten' && incoming.method === 'GET' && incoming.url?.includes('/jobs?')) {
        changeJson(outgoing, (list: { readonly data: readonly { readonly id: string }[] }) => {
          const data = list.data.filter(({ id }) => id !== said.job);
          const shown = said.listed && { status: said.listed };
          const listed = data.map((job) => Object.assign(job, shown));
          return { ...list, data: listed };
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
      changeJson(outgoing, (job: object) => ({ ...job, status }));
      return proceed();
    },
  });
  const { stdout } = succeeded(await desk.svc(`au submit tokens.csv --cycle 2026-12${options}`, env));
  return { ...desk, said, job: (JSON.parse(stdout) as { readonly job: string }).job };
}
