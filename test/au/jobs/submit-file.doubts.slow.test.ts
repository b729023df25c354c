import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { errorIn, type HereResult, succeeded } from '../../support/run-here.ts';
import { openQuickDesk } from '../commands/support.ts';
import { listOnly } from '../support.ts';

const DAY = 86_400_000;
const NOT_FOUND = '{"title":"Not Found","status":404}';
const ALL = 'au submit all.csv --cycle 2026-12';
const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');

/** A machine that shares the ledger of another one, which sent two halves of a file. The service can forget any job. */
async function openHalves() {
  const service = { forgotten: new Set<string>(), isNameless: false };
  const desk = await openQuickDesk({
    processingMs: 30 * DAY,
    intercept: (incoming, outgoing, proceed) => {
      const { method, url = '' } = incoming;
      const refuse = (status: number): void => {
        outgoing.writeHead(status, { 'content-type': 'application/problem+json' }).end(NOT_FOUND);
      };
      if (url.startsWith('/tenants/self') && service.isNameless) return refuse(403);
      if (method === 'GET' && [...service.forgotten].some((job) => url.endsWith(job))) return refuse(404);
      if (method === 'GET' && /\/account-updater\/jobs(?:\?|$)/.test(url))
        listOnly(outgoing, (id) => !service.forgotten.has(id));
      proceed();
    },
  });
  mkdirSync(desk.home.file('ledger'));
  const on = (machine: string, line: string): Promise<HereResult> =>
    desk.svc(line, { SVC_STATE_DIR: desk.home.file(machine), SVC_LEDGER: desk.home.file('ledger') });
  const write = (file: string, rows: readonly string[]): void =>
    writeFileSync(desk.home.file(file), `${[HEADER, ...rows].join('\n')}\n`);
  const jobs: string[] = [];
  for (const [file, rows] of [
    ['first.csv', ROWS.slice(0, 20)],
    ['second.csv', ROWS.slice(20)],
  ] as const) {
    write(file, rows);
    const { stdout } = succeeded(await on('other', `au submit ${file} --cycle 2026-12`));
    jobs.push((JSON.parse(stdout) as { readonly job: string }).job);
  }
  write('all.csv', ROWS);
  // The store has passed the files on.
  await desk.clock.advance(60_000);
  return { ...desk, svc: (line: string) => on('here', line), service, jobs };
}

describe('rows of jobs that another machine sent, and that the service does not find', () => {
  it('R58: rows of jobs that another machine sent, and that the service does not find after a week, have a command each that frees them, and which works', async () => {
    const { svc, service, jobs, clock, received } = await openHalves();
    for (const job of jobs) service.forgotten.add(job);
    await clock.advance(8 * DAY);
    // No other command polls the jobs in between, and each command names one of them.
    for (const job of jobs) {
      const told = await svc(ALL);
      expect(told.code, told.stderr).toBe(9);
      const command = `svc au abandon ${job}`;
      expect(errorIn(told)).toMatchObject({ retryable: false, alternatives: [command] });
      succeeded(await svc(`${command.replace('svc ', '')} --yes`));
    }
    expect(await svc(ALL)).toMatchObject({ code: 0 });
    const sent = received()
      .slice(jobs.length)
      .flatMap((text) => text.trimEnd().split('\n').slice(1));
    expect(sent.toSorted()).toEqual(ROWS.toSorted());
  });

  it('R72: rows of jobs that another machine sent, and that the service finds again, end the doubt of the next submission', async () => {
    const { svc, service, jobs, uploads } = await openHalves();
    for (const job of jobs) service.forgotten.add(job);
    expect(await svc(ALL)).toMatchObject({ code: 9 });
    service.forgotten.clear();
    const found = await svc(ALL);
    expect([found.code, uploads()], found.stderr).toEqual([0, 2]);
  });
});

describe('a job to abandon while the service shows no job of the key', () => {
  it('R58: a job to abandon while the service shows no job of the key frees its rows once a new job shows the tenant', async () => {
    const { svc, service, jobs, clock } = await openHalves();
    const [job = ''] = jobs;
    for (const each of jobs) service.forgotten.add(each);
    await clock.advance(8 * DAY);
    expect(await svc(ALL)).toMatchObject({ code: 9 });
    // Jobs without a file, by which the tenant is known, are deleted meanwhile.
    await clock.advance(DAY);
    service.isNameless = true;
    const refused = await svc(`au abandon ${job} --yes`);
    expect(refused.code, refused.stderr).toBe(9);
    expect(refused.stderr).toContain("the service shows no job of this key's tenant");
    expect(await svc(String(errorIn(refused)['next']).replace('svc ', ''))).toMatchObject({ code: 0 });
    const freed = succeeded(await svc(`au abandon ${job} --yes`));
    expect(freed.stderr).toContain(`the rows of job ${job} are free`);
  });
});

it('R36: svc au submit without --wait polls once for a file whose last bytes a killed command sent, and sends nothing again', async () => {
  let isRefused = true;
  const desk = await openQuickDesk({
    intercept: ({ method }, outgoing, proceed) =>
      isRefused && method === 'PUT' ? outgoing.writeHead(403).end() : proceed(),
  });
  expect(await desk.svc('au submit tokens.csv')).toMatchObject({ code: 4 });
  isRefused = false;
  const [job = ''] = desk.jobs();
  desk.files(job).record('all');
  const began = desk.clock.now();
  const { code, stderr } = await desk.svc('au submit tokens.csv');
  expect([code, desk.uploads()], stderr).toEqual([9, 0]);
  expect(desk.clock.now() - began).toBeLessThan(60_000);
});
