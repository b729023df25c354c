import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import type { AccountUpdaterJob } from '../../../src/schema/account-updater.ts';
import { errorIn, type HereResult, succeeded } from '../../support/run-here.ts';
import { FakeClock } from '../../support/clock.ts';
import { type Machine, openMachine } from '../commands/machine.ts';
import { changeJson, type Fault, refuseWith } from '../support.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';

const DAY = 86_400_000;
const SUBMIT = 'au submit tokens.csv';
const ALONE = `${SUBMIT} --only-recorded`;

/** The moment at which the state directory was copied. */
type Copied = 'before' | 'uploading';

const isCreation = ({ method, url = '' }: IncomingMessage): boolean => method === 'POST' && url.endsWith('/jobs');

/** Submits the file, then restores the state directory of an earlier moment. Returns the job that is then forgotten. */
async function restoredTo(machine: Machine, moment: Copied): Promise<string> {
  const [state, copy] = [machine.path('state'), machine.path('copy')];
  mkdirSync(state, { recursive: true });
  const take = (): void => cpSync(state, copy, { recursive: true });
  if (moment === 'before') take();
  machine.fault = (incoming, _outgoing, proceed) => {
    if (moment === 'uploading' && incoming.method === 'PUT') take();
    proceed();
  };
  const { stdout } = succeeded(await machine.svc(SUBMIT));
  machine.fault = undefined;
  rmSync(state, { recursive: true });
  cpSync(copy, state, { recursive: true });
  await machine.clock.advance(60_000);
  return (JSON.parse(stdout) as { job: string }).job;
}

function otherFile(machine: Machine, name: string, row: string): void {
  const [header = ''] = exampleRequestFile().split('\n');
  writeFileSync(machine.path(join('work', name)), `${header}\n${row},,,\n`);
}

/** Returns how many jobs a command warned of because the ledger does not know them. */
function unrecordedIn({ stderr }: HereResult): number {
  return Number(/^warning: (\d+) job/m.exec(stderr)?.[1] ?? 0);
}

it('R74: svc au submit --only-recorded stops for a job that the ledger does not know, and without the option warns of it', async () => {
  const machine = await openMachine();
  otherFile(machine, 'more.csv', 'one-more');
  otherFile(machine, 'elsewhere.csv', 'elsewhere');
  expect(await machine.svc('au submit more.csv')).toMatchObject({ code: 0 });
  await machine.clock.advance(60_000);
  const elsewhere = { SVC_STATE_DIR: machine.path('elsewhere') };
  expect(await machine.svc('au submit elsewhere.csv --new-ledger', elsewhere)).toMatchObject({ code: 0 });
  for (const line of [ALONE, `${ALONE} --wait --out results.csv`]) {
    const { code, stderr } = await machine.svc(line);
    expect([line, code, machine.uploads()], stderr).toEqual([line, 9, 2]);
  }
  const warned = await machine.svc(SUBMIT);
  expect([warned.code, machine.uploads(), unrecordedIn(warned)], warned.stderr).toEqual([0, 3, 1]);
});

describe('a state directory that is older than what was submitted', () => {
  it('R74: a state directory that is older than what was submitted uploads nothing until --new-ledger, and names the jobs', async () => {
    const machine = await openMachine();
    const job = await restoredTo(machine, 'before');
    for (const line of [SUBMIT, ALONE, `${SUBMIT} --cycle 2026-11`]) {
      const refused = await machine.svc(line);
      expect(refused.code, `${line}: ${refused.stderr}`).toBe(9);
      expect(errorIn(refused)).toMatchObject({ unrecorded_jobs: [job], next: `svc au status ${job}` });
      expect(machine.uploads()).toBe(1);
      await machine.clock.advance(60_000);
    }
    const { stderr } = succeeded(await machine.svc(`${SUBMIT} --new-ledger`));
    expect(stderr.split('\n').filter((line) => line.startsWith('warning:'))).toHaveLength(1);
    expect(stderr).toContain(job);
    expect(machine.uploads()).toBe(2);
    // From here on the ledger knows the file.
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(2);
  });

  it('R74: a state directory that is older than what was submitted, whose jobs belong to another system, begins once they are ignored', async () => {
    const machine = await openMachine();
    const job = await restoredTo(machine, 'before');
    const refused = await machine.svc(ALONE);
    expect(refused.code, refused.stderr).toBe(9);
    expect(await machine.svc(`au ignore ${job} --yes`)).toMatchObject({ code: 0 });
    // The operator names the job once, which is enough for all later files.
    succeeded(await machine.svc(ALONE));
    otherFile(machine, 'more.csv', 'one-more');
    expect(await machine.svc('au submit more.csv --only-recorded')).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(3);
  });

  it.each([
    ['that machines share', ''],
    ['of one machine, also with --only-recorded,', ' --only-recorded'],
  ])('R74: an empty ledger %s begins only with --new-ledger, after which it knows the file', async (_which, only) => {
    const machine = await openMachine();
    const job = await restoredTo(machine, 'before');
    const env = only === '' ? sharedLedger(machine.path('ledger')) : {};
    const refused = await machine.svc(`${SUBMIT}${only}`, env);
    expect(refused.code, refused.stderr).toBe(9);
    const { alternatives } = errorIn(refused) as { readonly alternatives: readonly string[] };
    expect(alternatives.at(-1)).toMatch(/ --new-ledger$/);
    const begun = succeeded(await machine.svc(`${SUBMIT}${only} --new-ledger`, env));
    expect(begun.stderr).toContain(job);
    expect(await machine.svc(`${SUBMIT}${only}`, env)).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(2);
  });

  it('R74: a state directory that is older than what was submitted restored to uploading continues with the job that has the file', async () => {
    const machine = await openMachine();
    const job = await restoredTo(machine, 'uploading');
    const { stdout } = succeeded(await machine.svc(`${ALONE} --wait --out results.csv`));
    expect(JSON.parse(stdout)).toMatchObject({ job, status: 'completed' });
    expect(machine.uploads()).toBe(1);
  });

  it('R74: a state directory that is older than what was submitted says nothing of what is older than 30 days or than the ledger', async () => {
    const machine = await openMachine();
    await restoredTo(machine, 'before');
    await machine.clock.advance(31 * DAY);
    succeeded(await machine.svc(ALONE));
    await machine.clock.advance(DAY);
    otherFile(machine, 'more.csv', 'one-more');
    expect(await machine.svc('au submit more.csv --only-recorded')).toMatchObject({ code: 0 });
  });

  it('R74: an empty ledger that could not be compared, because the key may not list jobs, begins only with --new-ledger', async () => {
    const machine = await openMachine();
    const { tenant_id: id } = JSON.parse((await machine.svc('au create')).stdout) as AccountUpdaterJob;
    machine.fault = (incoming, outgoing, proceed) => {
      if (incoming.url?.includes('/jobs?')) return refuseWith(403)(incoming, outgoing, proceed);
      if (incoming.url !== '/tenants/self') return proceed();
      // The dry run learns here which ledger the file would be compared with.
      return void outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id }));
    };
    expect(await machine.svc(ALONE)).toMatchObject({ code: 4 });
    for (const line of [SUBMIT, `${SUBMIT} --dry-run`]) {
      const refused = await machine.svc(line);
      expect([refused.code, machine.uploads()], refused.stderr).toEqual([4, 0]);
      expect(errorIn(refused)).toMatchObject({
        alternatives: [expect.stringMatching(/^svc au submit .* --new-ledger$/)],
      });
    }
    otherFile(machine, 'more.csv', 'one-more');
    // From then on the ledger knows what this machine sent, but not what others do.
    for (const line of [`${SUBMIT} --new-ledger --dry-run`, `${SUBMIT} --new-ledger`, 'au submit more.csv']) {
      const sent = await machine.svc(line);
      expect(sent.code, `${line}: ${sent.stderr}`).toBe(0);
      expect(sent.stderr).toContain('warning: the jobs of the service were not compared with the ledger');
    }
    expect(machine.uploads()).toBe(2);
  });

  it('R74: a false 404 for the list of jobs, at any of its requests, begins no empty ledger', async () => {
    const machine = await openMachine();
    await restoredTo(machine, 'before');
    const codes = new Set<number>();
    for (const nth of [1, 2]) {
      let lists = 0;
      machine.fault = (incoming, outgoing, proceed) => {
        if (!incoming.url?.includes('/jobs?')) return proceed();
        lists += 1;
        return lists === nth ? refuseWith(404)(incoming, outgoing, proceed) : proceed();
      };
      codes.add((await machine.svc(SUBMIT)).code);
      expect(lists).toBeGreaterThanOrEqual(2);
      rmSync(machine.path('state'), { recursive: true });
    }
    expect([codes, machine.uploads()]).toEqual([new Set([9]), 1]);
  });
});

it('R74: a job that a shared ledger does not know stops every upload, and the refused commands create one job', async () => {
  const machine = await openMachine();
  const outside = { SVC_STATE_DIR: machine.path('outside') };
  otherFile(machine, 'first.csv', 'one');
  const env = { ...sharedLedger(machine.path('ledger')), SVC_CACHE_DIR: machine.path('cache') };
  expect(await machine.svc('au submit first.csv', env)).toMatchObject({ code: 0 });
  await machine.clock.advance(60_000);
  expect(await machine.svc(`${SUBMIT} --new-ledger`, outside)).toMatchObject({ code: 0 });
  const runner = { ...env, SVC_STATE_DIR: machine.path('runner'), SVC_CACHE_DIR: machine.path('runner-cache') };
  const refuse = async (): Promise<string> => {
    await machine.clock.advance(20_000);
    const refused = await machine.svc(SUBMIT, runner);
    expect([refused.code, machine.uploads()], refused.stderr).toEqual([9, 2]);
    return refused.stderr;
  };
  expect(await refuse()).toContain('created job');
  expect(await refuse()).not.toContain('created job');
  expect(await refuse()).not.toContain('created job');
});

describe('two state directories of one tenant without a shared ledger', () => {
  it('R74: two state directories of one tenant without a shared ledger do not both pay: the second, being empty, ends with 9 until --new-ledger', async () => {
    const machine = await openMachine();
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
    const env = { SVC_STATE_DIR: machine.path('second') };
    for (const options of ['', '--cycle 2026-11', '--profile other']) {
      const refused = await machine.svc(`${SUBMIT} ${options}`.trim(), env);
      expect(refused.code, refused.stderr).toBe(9);
      expect(refused.stderr).toContain('this ledger is new');
      expect(machine.uploads()).toBe(1);
    }
    expect(await machine.svc(`${SUBMIT} --new-ledger`, env)).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(2);
  });
});

describe('a shared ledger that a machine with a wrong clock began', () => {
  it('R74: a shared ledger that a machine with a wrong clock began in the future does not know a job from outside, which stops the upload', async () => {
    const machine = await openMachine();
    const shared = sharedLedger(machine.path('ledger'));
    otherFile(machine, 'first.csv', 'one');
    const ahead = new FakeClock({ start: machine.clock.now() + 10 * DAY });
    succeeded(await machine.svc('au submit first.csv', shared, ahead));
    await machine.clock.advance(60_000);
    const outside = { SVC_STATE_DIR: machine.path('outside') };
    expect(await machine.svc(`${SUBMIT} --new-ledger`, outside)).toMatchObject({ code: 0 });
    const refused = await machine.svc(SUBMIT, { ...shared, SVC_STATE_DIR: machine.path('runner') });
    expect([refused.code, machine.uploads()], refused.stderr).toEqual([9, 2]);
  });

  it('a shared ledger that a machine with a wrong clock began in the past is not stopped by jobs from before it', async () => {
    const machine = await openMachine();
    otherFile(machine, 'first.csv', 'one');
    otherFile(machine, 'second.csv', 'two');
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
    await machine.clock.advance(DAY);
    const shared = { ...sharedLedger(machine.path('ledger')), SVC_STATE_DIR: machine.path('runner') };
    const behind = new FakeClock({ start: machine.clock.now() - 10 * DAY });
    succeeded(await machine.svc('au submit first.csv --new-ledger', shared, behind));
    succeeded(await machine.svc('au submit second.csv', shared));
  });
});

/** Puts an item before the jobs of the list, made of the newest job there. */
function listedWith(make: (job: Record<string, unknown>) => unknown): Fault {
  return (incoming, outgoing, proceed) => {
    if (incoming.method === 'GET' && /\/jobs(\?|$)/.test(incoming.url ?? ''))
      changeJson(outgoing, (list: { data: Record<string, unknown>[] }) => {
        const [newest] = list.data;
        if (newest) list.data.unshift(make({ ...newest, status: 'completed' }) as Record<string, unknown>);
        return list;
      });
    proceed();
  };
}

describe('an item of the list of jobs that cannot be read', () => {
  const UNREADABLE = '(an item without a readable id';

  it.each([
    ['is no object', () => 'job', UNREADABLE],
    ['has a number as its id', (job: object) => ({ ...job, id: 42 }), UNREADABLE],
    ['has no id', (job: object) => ({ ...job, id: undefined }), UNREADABLE],
    ['does not say as text who created it', (job: object) => ({ ...job, id: 'job-x', created_by: 42 }), 'job-x'],
    ['has a number as its time', (job: object) => ({ ...job, id: 'job-x', created_at: 42 }), 'job-x'],
    ['has a number as its status', (job: object) => ({ ...job, id: 'job-x', status: 42 }), 'job-x'],
  ])(
    'R74: an item of the list of jobs that %s may be of this key: it is named, and stops --only-recorded and an empty ledger',
    async (_, make, named) => {
      const machine = await openMachine();
      machine.fault = listedWith(make);
      for (const line of [ALONE, SUBMIT]) {
        const refused = await machine.svc(line);
        expect([refused.code, machine.uploads()], refused.stderr).toEqual([9, 0]);
        expect(String(errorIn(refused)['message'])).toContain(named);
      }
      const warned = await machine.svc(`${SUBMIT} --new-ledger`);
      expect([warned.code, machine.uploads()], warned.stderr).toEqual([0, 1]);
      expect(warned.stderr).toMatch(/^warning: 1 job of this key that the ledger does not know/m);
      expect(warned.stderr).toContain(named);
    },
  );
});

/**
 * Lets two systems of one tenant submit in three months, each with its state directory, file and key. The second one
 * begins although the key may have jobs.
 */
async function threeMonths(machine: Machine, keys: readonly [string, string], options: string) {
  otherFile(machine, 'more.csv', 'one-more');
  const systems = [
    ['tokens.csv', 'first', keys[0], ''],
    ['more.csv', 'second', keys[1], '--new-ledger'],
  ] as const;
  const results: { readonly code: number; readonly stderr: string; readonly unrecorded: number }[] = [];
  for (const cycle of ['2026-11', '2026-12', '2027-01']) {
    for (const [file, state, key, begin] of systems) {
      const env = { SVC_STATE_DIR: machine.path(`state-${state}`), SVC_PRIVATE_API_KEY: key };
      const words = `au submit ${file} --cycle ${cycle} --wait --out ${state}results.csv --force ${options} ${begin}`;
      const done = await machine.svc(words.split(' ').filter(Boolean), env);
      results.push({ ...done, unrecorded: unrecordedIn(done) });
      await machine.clock.advance(10_000);
    }
    await machine.clock.advance(28 * DAY);
  }
  return results;
}

describe('two systems that submit in the same minute of three months', () => {
  it('R74: two systems that submit in the same minute of three months with one key are warned of each other, and stop nobody', async () => {
    const machine = await openMachine();
    const results = await threeMonths(machine, ['sandbox-private-key', 'sandbox-private-key'], '');
    // In the last month, both jobs of the other system are younger than 30 days.
    expect(results.map(({ unrecorded }) => unrecorded)).toEqual([0, 1, 1, 1, 1, 2]);
    for (const { code, stderr } of results.slice(1)) {
      expect(code, stderr).toBe(0);
      expect(stderr.match(/^warning: \d+ job/gm)).toHaveLength(1);
    }
    expect(machine.uploads()).toBe(6);
  });

  it.each([
    ['', (job: Record<string, unknown>) => job],
    [', which only lists say', (job: Record<string, unknown>) => ({ ...job, created_by: undefined })],
  ])(
    'R74: two systems that submit in the same minute of three months with a key each%s do not notice each other, and may both say that they are alone with it',
    async (_, change) => {
      const machine = await openMachine();
      machine.fault = createdAs(change);
      const keys = ['sandbox-private-key', 'sandbox-private-key-account-updater-only'] as const;
      for (const { code, stderr, unrecorded } of await threeMonths(machine, keys, '--only-recorded')) {
        expect(code, stderr).toBe(0);
        expect(unrecorded).toBe(0);
        expect(stderr).not.toContain('warning: ');
      }
      expect(machine.uploads()).toBe(6);
    },
  );
});

/** Changes the job in the service's response to a creation. */
function createdAs(change: (job: Record<string, unknown>) => Record<string, unknown>): Fault {
  return (incoming, outgoing, proceed) => {
    if (isCreation(incoming)) changeJson(outgoing, change);
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
      expect(machine.jobs()).toEqual([]);
      machine.fault = undefined;
      expect(machine.uploads()).toBe(0);
      expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
      expect(machine.uploads()).toBe(1);
    },
  );

  it('R73: a job that the service says it created is not uploaded to when it has the rows of another file, whatever it looks like', async () => {
    const machine = await openMachine();
    otherFile(machine, 'more.csv', 'one-more');
    const { stdout } = await machine.svc('au submit more.csv');
    const { job } = JSON.parse(stdout) as { job: string };
    machine.fault = createdAs((created) => ({ ...created, id: job }));
    const refused = await machine.svc(SUBMIT);
    expect(refused.code, refused.stderr).toBe(6);
    expect(refused.stderr).toContain(job);
    machine.fault = undefined;
    expect([machine.uploads(), machine.files(job).sent]).toEqual([1, 'stored']);
  });
});
