import { expect, it } from 'vitest';
import { ended, rowOf, succeeded } from '../../support/run-here.ts';
import { openQuickDesk, type QuickDesk } from './support.ts';

const CYCLE = '--cycle 2026-12';

/** A desk at a service whose job ids are no UUIDs, and a job that has a file. */
async function plainDesk(options: Parameters<typeof openQuickDesk>[0] = {}): Promise<QuickDesk & { job: string }> {
  const desk = await openQuickDesk({ jobIds: 'plain', ...options });
  const { job } = rowOf(await desk.svc(`au submit tokens.csv ${CYCLE}`));
  expect(job).toMatch(/^job_[0-9A-F]{26}$/);
  return { ...desk, job: String(job) };
}

it('a job whose id is no UUID is shown, resumed and downloaded by its id', async () => {
  const { svc, job } = await plainDesk();
  expect(rowOf(await svc(`au status ${job}`))).toMatchObject({ id: job });
  succeeded(await svc(`au resume ${job} --wait`));
  rowOf(await svc(`au download ${job} --out got.csv`));
  succeeded(await svc(`au report got.csv --request tokens.csv`));
  ended(await svc(`au submit tokens.csv ${CYCLE} --wait`), 0, { uploads: 1 });
});

it('a job whose id is no UUID is shown and resumed on another machine, which only has the ledger', async () => {
  const desk = await openQuickDesk({ jobIds: 'plain' });
  const { job } = rowOf(await desk.on('runner', `au submit tokens.csv ${CYCLE}`));
  expect(rowOf(await desk.on('laptop', `au status ${String(job)}`))).toMatchObject({ id: job });
  succeeded(await desk.on('laptop', `au resume ${String(job)} --wait`));
  ended(await desk.on('laptop', `au submit tokens.csv ${CYCLE} --wait`), 0, { uploads: 1 });
});

it('a job whose id is no UUID is uploaded to by its id, and is not abandoned while the service has its file', async () => {
  const { svc, job, uploads } = await plainDesk();
  const created = rowOf(await svc('au create'));
  rowOf(await svc(`au upload ${String(created['id'])} tokens.csv --pay-again`));
  expect(uploads()).toBe(2);
  ended(await svc(`au abandon ${job} --yes`), 6);
});

it('a word that is no job and no cycle is said to be none', async () => {
  const { svc } = await plainDesk();
  for (const line of ['au status job_0', 'au resume job_0 --wait', 'au download job_0 --out x.csv'])
    expect(await svc(line), line).toMatchObject({ code: 5 });
});
