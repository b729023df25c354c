import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RecordOnDisk } from '../recorded-run.ts';
import { captureResponse } from '../../../src/emulator/faults/intercept.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { errorIn } from '../../support/run-here.ts';
import { type Machine, openMachine } from '../commands/machine.ts';
import { type Fault, refuseWith } from '../support.ts';

const DAY = 86_400_000;
const SUBMIT = 'au submit tokens.csv';
const ALONE = `${SUBMIT} --no-unrecorded-jobs`;

/** The moment at which the state directory was copied. */
type Copied = 'before' | 'planned' | 'creating' | 'uploading';

const isCreation = ({ method, url = '' }: IncomingMessage): boolean => method === 'POST' && url.endsWith('/jobs');

/** Submits the file, then restores the state directory of an earlier moment. Returns the job that is then forgotten. */
async function restoredTo(machine: Machine, moment: Copied): Promise<string> {
  const [state, copy] = [machine.path('state'), machine.path('copy')];
  mkdirSync(state, { recursive: true });
  const take = (): void => cpSync(state, copy, { recursive: true });
  if (moment === 'before') take();
  machine.fault = (incoming, _outgoing, proceed) => {
    const isMoment = moment === 'uploading' ? incoming.method === 'PUT' : isCreation(incoming);
    if (moment !== 'before' && isMoment) take();
    proceed();
  };
  const { code, stdout, stderr } = await machine.svc(SUBMIT);
  expect(code, stderr).toBe(0);
  machine.fault = undefined;
  rmSync(state, { recursive: true });
  cpSync(copy, state, { recursive: true });
  if (moment === 'planned') unsend(machine);
  await machine.clock.advance(60_000);
  return (JSON.parse(stdout) as { job: string }).job;
}

/** Changes the record of the only run as if the run had sent nothing. */
function unsend(machine: Machine): void {
  const file = machine.path(join('state/runs', machine.runIds()[0] ?? '', 'run.json'));
  const record = JSON.parse(readFileSync(file, 'utf8')) as RecordOnDisk;
  for (const part of record.parts) {
    part.state = 'planned';
    delete part.creating_since;
  }
  writeFileSync(file, JSON.stringify(record));
}

/** Checks that sync uploads nothing either, and names the job. */
async function syncsNothing(machine: Machine, job: string): Promise<void> {
  const synced = await machine.svc('au sync');
  expect(synced.code).not.toBe(0);
  expect(synced.stderr).toContain(`--other-job ${job}`);
  expect(machine.uploads()).toBe(1);
}

function otherFile(machine: Machine, name: string, row: string): void {
  writeFileSync(machine.path(join('work', name)), `${exampleRequestFile()}${row},,,\n`);
}

describe('a state directory that is older than what was submitted', () => {
  it.each(['before', 'planned'] as const)(
    'R74: a state directory that is older than what was submitted restored to %s warns once, and names the jobs',
    async (moment) => {
      const machine = await openMachine();
      const job = await restoredTo(machine, moment);
      const { code, stdout, stderr } = await machine.svc(SUBMIT);
      expect(code, stderr).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ unrecorded_jobs: [job] });
      expect(stderr.split('\n').filter((line) => line.startsWith('warning:'))).toHaveLength(1);
      expect(stderr).toContain(job);
      expect(machine.uploads()).toBe(2);
    },
  );

  it.each(['before', 'planned'] as const)(
    'R74: a state directory that is older than what was submitted restored to %s uploads nothing with --no-unrecorded-jobs',
    async (moment) => {
      const machine = await openMachine();
      const job = await restoredTo(machine, moment);
      for (const line of [ALONE, `${ALONE} --again`, `${ALONE} --cycle 2026-11`]) {
        const refused = await machine.svc(line);
        expect(refused.code, line).toBe(9);
        expect(refused.stderr).toContain(job);
        expect(refused.stderr).toContain(`--other-job ${job}`);
        expect(refused.stderr.replaceAll('--again', '')).toBe(refused.stderr);
        expect(machine.uploads()).toBe(1);
      }
      await syncsNothing(machine, job);
      expect(JSON.parse((await machine.svc('au runs')).stdout)).toMatchObject({ status: 'not sent' });
      // The operator names the job once, which is enough for all later files.
      const named = await machine.svc(`${ALONE} --other-job ${job}`);
      expect(named.code, named.stderr).toBe(0);
      otherFile(machine, 'more.csv', 'one-more');
      expect(await machine.svc('au submit more.csv --no-unrecorded-jobs')).toMatchObject({ code: 0 });
      expect(machine.uploads()).toBe(3);
    },
  );

  it('R74: a state directory that is older than what was submitted restored to creating uploads nothing until the operator says whose the job is', async () => {
    const machine = await openMachine();
    const job = await restoredTo(machine, 'creating');
    for (const line of [SUBMIT, SUBMIT, `${SUBMIT} --again`, `${SUBMIT} --cycle 2026-11`]) {
      const refused = await machine.svc(line);
      expect(refused.code, line).toBe(9);
      expect(refused.stderr).toContain(`svc au status ${job}`);
      expect(machine.uploads()).toBe(1);
    }
    await syncsNothing(machine, job);
    // A creation that is refused in between proves nothing.
    machine.fault = (incoming, outgoing, proceed) =>
      isCreation(incoming) ? refuseWith(403)(incoming, outgoing, proceed) : proceed();
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 4 });
    machine.fault = undefined;
    const refused = await machine.svc(SUBMIT);
    expect(refused.code).toBe(9);
    expect(errorIn(refused)).toMatchObject({ unrecorded_jobs: [job] });
    expect(machine.uploads()).toBe(1);
    const named = await machine.svc(`${SUBMIT} --other-job ${job}`);
    expect(named.code, named.stderr).toBe(0);
    expect(machine.record(`state/runs/${machine.runIds()[0]}`)).toMatchObject({ other_jobs: [job] });
    expect(machine.uploads()).toBe(2);
  });

  it('R74: a state directory that is older than what was submitted restored to uploading continues with the job that has the file', async () => {
    const machine = await openMachine();
    const job = await restoredTo(machine, 'uploading');
    const { code, stdout, stderr } = await machine.svc(`${ALONE} --wait --out results.csv`);
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ job, status: 'completed' });
    expect(machine.uploads()).toBe(1);
  });

  it('R74: a state directory that is older than what was submitted says nothing of what is 36 days old or older than the newest record', async () => {
    const machine = await openMachine();
    await restoredTo(machine, 'before');
    await machine.clock.advance(36 * DAY);
    const late = await machine.svc(ALONE);
    expect(late.code, late.stderr).toBe(0);
    await machine.clock.advance(DAY);
    otherFile(machine, 'more.csv', 'one-more');
    expect(await machine.svc('au submit more.csv --no-unrecorded-jobs')).toMatchObject({ code: 0 });
  });

  it('R74: a state directory that is older than what was submitted is no proof where the key may not read the list: that stops only who asked for it', async () => {
    const machine = await openMachine();
    machine.fault = (incoming, outgoing, proceed) =>
      incoming.url?.includes('/jobs?') ? refuseWith(403)(incoming, outgoing, proceed) : proceed();
    expect(await machine.svc(ALONE)).toMatchObject({ code: 4 });
    expect(machine.uploads()).toBe(0);
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(1);
  });
});

/** Lets two systems of one tenant submit in three months, each with its state directory, file and key. */
async function threeMonths(machine: Machine, keys: readonly [string, string], options: string) {
  otherFile(machine, 'more.csv', 'one-more');
  const systems = [
    ['tokens.csv', 'first', keys[0]],
    ['more.csv', 'second', keys[1]],
  ] as const;
  const results: { readonly code: number; readonly stderr: string; readonly unrecorded: number }[] = [];
  for (const cycle of ['2026-11', '2026-12', '2027-01']) {
    for (const [file, state, key] of systems) {
      const env = { SVC_STATE_DIR: machine.path(`state-${state}`), SVC_PRIVATE_API_KEY: key };
      const line = `au submit ${file} --cycle ${cycle} --wait --out ${state}results.csv --force ${options}`.trim();
      const { code, stdout, stderr } = await machine.svc(line, env);
      const { unrecorded_jobs: jobs = [] } = JSON.parse(stdout || '{}') as { unrecorded_jobs?: string[] };
      results.push({ code, stderr, unrecorded: jobs.length });
      await machine.clock.advance(10_000);
    }
    await machine.clock.advance(30 * DAY);
  }
  return results;
}

describe('two systems that submit in the same minute of three months', () => {
  it('R74: two systems that submit in the same minute of three months with one key are warned of each other, and stop nobody', async () => {
    const machine = await openMachine();
    const results = await threeMonths(machine, ['sandbox-private-key', 'sandbox-private-key'], '');
    for (const { code, stderr, unrecorded } of results.slice(1)) {
      expect(code, stderr).toBe(0);
      expect(unrecorded).toBe(1);
      expect(stderr.match(/^warning: /gm)).toHaveLength(1);
    }
    expect(machine.uploads()).toBe(6);
  });

  it('R74: two systems that submit in the same minute of three months with a key each do not notice each other, and may both say that they are alone with it', async () => {
    const machine = await openMachine();
    const keys = ['sandbox-private-key', 'sandbox-private-key-account-updater-only'] as const;
    for (const { code, stderr, unrecorded } of await threeMonths(machine, keys, '--no-unrecorded-jobs')) {
      expect(code, stderr).toBe(0);
      expect(unrecorded).toBe(0);
      expect(stderr).not.toContain('warning: ');
    }
    expect(machine.uploads()).toBe(6);
    expect(readdirSync(machine.path('state-first/runs')).length).toBeGreaterThanOrEqual(3);
  });
});

/** Changes the job in the service's response to a creation. */
function createdAs(change: (job: Record<string, unknown>) => Record<string, unknown>): Fault {
  return (incoming, outgoing, proceed) => {
    if (isCreation(incoming))
      captureResponse(outgoing, (body) => {
        const text = JSON.stringify(change(JSON.parse(body.toString()) as Record<string, unknown>));
        outgoing.setHeader('content-length', Buffer.byteLength(text)).end(text);
      });
    proceed();
  };
}

describe('a job that the service says it created', () => {
  it.each([
    ['is completed', (job: object) => ({ ...job, status: 'completed', upload_url: null })],
    ['is processing', (job: object) => ({ ...job, status: 'processing' })],
    ['has no address', (job: object) => ({ ...job, upload_url: null })],
    ['has an empty address', (job: object) => ({ ...job, upload_url: '' })],
    ['was created an hour ago', (job: object) => ({ ...job, created_at: '2026-11-02T03:00:00.000Z' })],
  ])(
    'R73: a job that the service says it created is not uploaded to when it %s, and nothing is recorded as sent',
    async (_, change) => {
      const machine = await openMachine();
      machine.fault = createdAs(change);
      for (const options of ['', '--wait --out results.csv']) {
        const refused = await machine.svc(`${SUBMIT} ${options}`.trim());
        expect(refused.code, refused.stderr).toBe(8);
        expect(refused.stderr).toContain('was to create a job');
      }
      expect(machine.record(`state/runs/${machine.runIds()[0]}`).parts).toMatchObject([{ state: 'planned' }]);
      machine.fault = undefined;
      expect(machine.uploads()).toBe(0);
      expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
      expect(machine.uploads()).toBe(1);
    },
  );

  it('R73: a job that the service says it created is not uploaded to when another run has it, whatever it looks like', async () => {
    const machine = await openMachine();
    otherFile(machine, 'more.csv', 'one-more');
    const { stdout } = await machine.svc('au submit more.csv');
    const { job } = JSON.parse(stdout) as { job: string };
    machine.fault = createdAs((created) => ({ ...created, id: job }));
    const refused = await machine.svc(SUBMIT);
    expect(refused.code, refused.stderr).toBe(8);
    expect(refused.stderr).toContain(job);
    machine.fault = undefined;
    expect(machine.uploads()).toBe(1);
  });
});
