import { mkdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { rowOf } from '../../support/run-here.ts';
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
  const { svc, job, uploads } = await plainDesk();
  expect(rowOf(await svc(`au status ${job}`))).toMatchObject({ id: job });
  expect(await svc(`au resume ${job} --wait`)).toMatchObject({ code: 0 });
  rowOf(await svc(`au download ${job} --out got.csv`));
  expect(await svc(`au report got.csv --request tokens.csv`)).toMatchObject({ code: 0 });
  expect(await svc(`au submit tokens.csv ${CYCLE} --wait`)).toMatchObject({ code: 0 });
  expect(uploads()).toBe(1);
});

it('a job whose id is no UUID is shown and resumed on another machine, which only has the ledger', async () => {
  const desk = await openQuickDesk({ jobIds: 'plain' });
  mkdirSync(desk.home.file('ledger'));
  const on = (machine: string) => ({ SVC_STATE_DIR: desk.home.file(machine), SVC_LEDGER: desk.home.file('ledger') });
  const { job } = rowOf(await desk.svc(`au submit tokens.csv ${CYCLE}`, on('runner')));
  expect(rowOf(await desk.svc(`au status ${String(job)}`, on('laptop')))).toMatchObject({ id: job });
  expect(await desk.svc(`au resume ${String(job)} --wait`, on('laptop'))).toMatchObject({ code: 0 });
  expect(await desk.svc(`au submit tokens.csv ${CYCLE} --wait`, on('laptop'))).toMatchObject({ code: 0 });
  expect(desk.uploads()).toBe(1);
});

it('a job whose id is no UUID is uploaded to by its id, and is not abandoned while the service has its file', async () => {
  const { svc, job, uploads } = await plainDesk();
  const created = rowOf(await svc('au create'));
  rowOf(await svc(`au upload ${String(created['id'])} tokens.csv --pay-again`));
  expect(uploads()).toBe(2);
  const kept = await svc(`au abandon ${job} --yes`);
  expect(kept.code, kept.stderr).toBe(6);
});

it('a word that is no job and no cycle is said to be none', async () => {
  const { svc } = await plainDesk();
  for (const line of ['au status job_0', 'au resume job_0 --wait', 'au download job_0 --out x.csv'])
    expect(await svc(line), line).toMatchObject({ code: 5 });
});
