import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { ended, errorIn, succeeded } from '../../support/run-here.ts';
import { openQuickDesk } from '../commands/support.ts';
import { JobFaults } from '../job-faults.ts';

const DAY = 86_400_000;
const ALL = 'au submit all.csv --cycle 2026-12';
const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');

/** A machine that shares the ledger of another one, which sent two halves of a file. The service can forget any job. */
async function openHalves() {
  const service = new JobFaults();
  const desk = await openQuickDesk({ processingMs: 30 * DAY, intercept: service.intercept });
  const write = (file: string, rows: readonly string[]): void =>
    writeFileSync(desk.home.file(file), `${[HEADER, ...rows].join('\n')}\n`);
  const jobs: string[] = [];
  for (const [file, rows] of [
    ['first.csv', ROWS.slice(0, 20)],
    ['second.csv', ROWS.slice(20)],
  ] as const) {
    write(file, rows);
    const { stdout } = succeeded(await desk.on('other', `au submit ${file} --cycle 2026-12`));
    jobs.push((JSON.parse(stdout) as { readonly job: string }).job);
  }
  write('all.csv', ROWS);
  // The store has passed the files on.
  await desk.clock.advance(60_000);
  return { ...desk, svc: (line: string) => desk.on('here', line), service, jobs };
}

describe('rows of jobs that another machine sent, and that the service does not find', () => {
  it('R58: rows of jobs that another machine sent, and that the service does not find after a week, have a command each that frees them, and which works', async () => {
    const { svc, service, jobs, clock, received } = await openHalves();
    service.forgotten = jobs;
    await clock.advance(8 * DAY);
    // No other command polls the jobs in between, and each command names one of them.
    for (const job of jobs) {
      const told = ended(await svc(ALL), 9);
      const command = `svc au abandon ${job}`;
      expect(errorIn(told)).toMatchObject({ retryable: false, alternatives: [command] });
      succeeded(await svc(`${command.replace('svc ', '')} --yes`));
    }
    succeeded(await svc(ALL));
    const sent = received()
      .slice(jobs.length)
      .flatMap((text) => text.trimEnd().split('\n').slice(1));
    expect(sent.toSorted()).toEqual(ROWS.toSorted());
  });

  it('R72: rows of jobs that another machine sent, and that the service finds again, end the doubt of the next submission', async () => {
    const { svc, service, jobs } = await openHalves();
    service.forgotten = jobs;
    ended(await svc(ALL), 9);
    service.clear();
    ended(await svc(ALL), 0, { uploads: 2 });
  });
});

it('R58: a job to abandon while the service shows no job of the key frees its rows once a new job shows the tenant', async () => {
  const { svc, service, jobs, clock } = await openHalves();
  const [job = ''] = jobs;
  service.forgotten = jobs;
  await clock.advance(8 * DAY);
  ended(await svc(ALL), 9);
  // Jobs without a file, by which the tenant is known, are deleted meanwhile.
  await clock.advance(DAY);
  service.refuse = (_, url) => (url.startsWith('/tenants/self') ? 403 : undefined);
  const refused = ended(await svc(`au abandon ${job} --yes`), 9, "the service shows no job of this key's tenant");
  succeeded(await svc(String(errorIn(refused)['next']).replace('svc ', '')));
  ended(await svc(`au abandon ${job} --yes`), 0, `the rows of job ${job} are free`);
});

it('R36: svc au submit without --wait polls once for a file whose last bytes a killed command sent, and sends nothing again', async () => {
  let isRefused = true;
  const desk = await openQuickDesk({
    intercept: ({ method }, outgoing, proceed) =>
      isRefused && method === 'PUT' ? outgoing.writeHead(403).end() : proceed(),
  });
  ended(await desk.svc('au submit tokens.csv'), 4);
  isRefused = false;
  const [job = ''] = desk.jobs();
  desk.files(job).record('all');
  const began = desk.clock.now();
  ended(await desk.svc('au submit tokens.csv'), 9, { uploads: 0 });
  expect(desk.clock.now() - began).toBeLessThan(60_000);
});
