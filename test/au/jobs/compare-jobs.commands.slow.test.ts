import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import type { AccountUpdaterJob } from '../../../src/schema/account-updater.ts';
import { ended, errorIn, type HereResult, rowOf, succeeded } from '../../support/run-here.ts';
import { FakeClock } from '../../support/clock.ts';
import { type Machine, openMachine } from '../commands/machine.ts';
import { answerLost, changeJson, type Fault, refuseWith } from '../support.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';

const DAY = 86_400_000;
const SUBMIT = 'au submit tokens.csv';
const ALONE = `${SUBMIT} --only-recorded`;
const CANNOT_READ_TENANT = { SVC_PRIVATE_API_KEY: 'sandbox-private-key-account-updater-only' };

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
  succeeded(await machine.svc('au submit more.csv'));
  await machine.clock.advance(60_000);
  const elsewhere = { SVC_STATE_DIR: machine.path('elsewhere') };
  succeeded(await machine.svc('au submit elsewhere.csv --new-ledger', elsewhere));
  for (const line of [ALONE, `${ALONE} --wait --out results.csv`]) ended(await machine.svc(line), 9, { uploads: 2 });
  const job = String(rowOf(await machine.svc('au create'))['id']);
  ended(await machine.svc(`au upload ${job} tokens.csv --only-recorded`), 9, { uploads: 2 });
  const warned = await machine.svc(SUBMIT);
  expect([warned.code, machine.uploads(), unrecordedIn(warned)], warned.stderr).toEqual([0, 3, 1]);
});

describe('a state directory that is older than what was submitted', () => {
  it('R74: a state directory that is older than what was submitted uploads nothing until --new-ledger, and names the jobs', async () => {
    const machine = await openMachine();
    const job = await restoredTo(machine, 'before');
    for (const line of [SUBMIT, ALONE, `${SUBMIT} --cycle 2026-11`]) {
      ended(await machine.svc(line), 9, {
        uploads: 1,
        error: { unrecorded_jobs: [job], next: `svc au status ${job}` },
      });
      await machine.clock.advance(60_000);
    }
    const { stderr } = succeeded(await machine.svc(`${SUBMIT} --new-ledger`));
    expect(stderr.split('\n').filter((line) => line.startsWith('warning:'))).toHaveLength(1);
    expect(stderr).toContain(job);
    expect(machine.uploads()).toBe(2);
    // From here on the ledger knows the file.
    ended(await machine.svc(SUBMIT), 0, { uploads: 2 });
  });

  it('R74: a state directory that is older than what was submitted, whose jobs belong to another system, begins once they are ignored', async () => {
    const machine = await openMachine();
    const job = await restoredTo(machine, 'before');
    ended(await machine.svc(ALONE), 9);
    succeeded(await machine.svc(`au ignore ${job} --yes`));
    // The operator names the job once, which is enough for all later files.
    succeeded(await machine.svc(ALONE));
    otherFile(machine, 'more.csv', 'one-more');
    ended(await machine.svc('au submit more.csv --only-recorded'), 0, { uploads: 3 });
  });

  it.each([
    ['that machines share', ''],
    ['of one machine, also with --only-recorded,', ' --only-recorded'],
  ])('R74: an empty ledger %s begins only with --new-ledger, after which it knows the file', async (_which, only) => {
    const machine = await openMachine();
    const job = await restoredTo(machine, 'before');
    const env = only === '' ? sharedLedger(machine.path('ledger')) : {};
    const refused = ended(await machine.svc(`${SUBMIT}${only}`, env), 9);
    const { alternatives } = errorIn(refused) as { readonly alternatives: readonly string[] };
    expect(alternatives.at(-1)).toMatch(/ --new-ledger$/);
    ended(await machine.svc(`${SUBMIT}${only} --new-ledger`, env), 0, job);
    ended(await machine.svc(`${SUBMIT}${only}`, env), 0, { uploads: 2 });
  });

  it('R74: a state directory that is older than what was submitted restored to uploading continues with the job that has the file', async () => {
    const machine = await openMachine();
    const job = await restoredTo(machine, 'uploading');
    ended(await machine.svc(`${ALONE} --wait --out results.csv`), 0, { uploads: 1, row: { job, status: 'completed' } });
  });

  it('R74: a state directory that is older than what was submitted says nothing of what is older than 30 days or than the ledger', async () => {
    const machine = await openMachine();
    await restoredTo(machine, 'before');
    await machine.clock.advance(31 * DAY);
    succeeded(await machine.svc(ALONE));
    await machine.clock.advance(DAY);
    otherFile(machine, 'more.csv', 'one-more');
    succeeded(await machine.svc('au submit more.csv --only-recorded'));
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
    ended(await machine.svc(ALONE), 4);
    for (const line of [SUBMIT, `${SUBMIT} --dry-run`]) {
      ended(await machine.svc(line), 4, {
        uploads: 0,
        error: { alternatives: [expect.stringMatching(/^svc au submit .* --new-ledger$/)] },
      });
    }
    otherFile(machine, 'more.csv', 'one-more');
    // From then on the ledger knows what this machine sent, but not what others do.
    for (const line of [`${SUBMIT} --new-ledger --dry-run`, `${SUBMIT} --new-ledger`, 'au submit more.csv'])
      ended(await machine.svc(line), 0, 'warning: the jobs of the service were not compared with the ledger');
    expect(machine.uploads()).toBe(2);
  });

  it('R74: a state directory that is lost while its job is still pending pays for nothing again: 11 until the service says more', async () => {
    const machine = await openMachine({ pickupMs: 60_000 });
    const { stdout } = succeeded(await machine.svc(SUBMIT));
    const { job } = JSON.parse(stdout) as { job: string };
    rmSync(machine.path('state'), { recursive: true });
    for (const line of [SUBMIT, `${SUBMIT} --dry-run`, `${SUBMIT} --cycle 2026-11`, SUBMIT])
      ended(await machine.svc(line), 11, {
        uploads: 1,
        error: { unrecorded_jobs: [job], next: expect.stringMatching(/^svc au submit /) },
      });
    const refresh = ['au', 'refresh', 'tokens.csv', '--cycle', '2026-12', '--out-dir', machine.path('refresh')];
    const refused = ended(await machine.svc(refresh), 11, {
      uploads: 1,
      error: { unrecorded_jobs: [job], next: expect.stringMatching(/^svc au refresh /) },
    });
    expect(refused.stdout).toBe('');
    await machine.clock.advance(60_000);
    ended(await machine.svc(SUBMIT), 9, { uploads: 1 });
    ended(await machine.svc(`${SUBMIT} --new-ledger`), 0, job, { uploads: 2 });
  });

  it('R74: svc au upload stops for an older pending job of a state directory that is lost, and for no newer one', async () => {
    const machine = await openMachine({ pickupMs: 60_000 });
    const create = async (): Promise<string> => String(rowOf(await machine.svc('au create'))['id']);
    const [first, newer] = [await create(), await create()];
    ended(await machine.svc(`au upload ${first} tokens.csv`), 0, { uploads: 1 });
    rmSync(machine.path('state'), { recursive: true });
    ended(await machine.svc(`au upload ${newer} tokens.csv`), 11, {
      uploads: 1,
      error: { unrecorded_jobs: [first], next: expect.stringMatching(/^svc au upload /) },
    });
    await machine.clock.advance(60_000);
    ended(await machine.svc(`au upload ${newer} tokens.csv`), 9, { uploads: 1 });
  });

  it('R74: a pending job without a file stops a new state directory for an hour at most', async () => {
    const machine = await openMachine();
    // A job that this machine created by hand has no file.
    succeeded(await machine.svc('au create'));
    const { id } = rowOf(await machine.svc('au create', { SVC_STATE_DIR: machine.path('elsewhere') }));
    ended(await machine.svc(SUBMIT), 11, { uploads: 0, error: { unrecorded_jobs: [id] } });
    await machine.clock.advance(3_600_000);
    ended(await machine.svc(SUBMIT), 0, { uploads: 1 });
  });

  it('R74: a first job for one tenant is no sign that the pending jobs of another have no file', async () => {
    const machine = await openMachine({ pickupMs: 60_000 });
    const other = await machine.tenant(2);
    succeeded(await machine.svc(SUBMIT, { ...CANNOT_READ_TENANT, SVC_BASE_URL: other.url }));
    const lost = { ...CANNOT_READ_TENANT, SVC_STATE_DIR: machine.path('lost') };
    const { job } = JSON.parse(succeeded(await machine.svc(SUBMIT, lost)).stdout) as { job: string };
    ended(await machine.svc(SUBMIT, CANNOT_READ_TENANT), 11, { uploads: 2, error: { unrecorded_jobs: [job] } });
  });

  it('R75: a job that a refused command created to find the tenant stops no later command', async () => {
    const machine = await openMachine();
    const nowhere = { SVC_LEDGER: machine.path('nowhere') };
    ended(await machine.svc(SUBMIT, { ...CANNOT_READ_TENANT, ...nowhere }), 3, { uploads: 0 });
    ended(await machine.svc(SUBMIT, CANNOT_READ_TENANT), 0, { uploads: 1 });
  });

  it.each([
    ['refused after it created a job', false],
    ['cut off while it created a job', true],
  ])(
    'R84: after a command that was %s to find the tenant, the pending job of another machine stops the next one',
    async (_, isCutOff) => {
      const machine = await openMachine({ pickupMs: 60_000 });
      machine.fault = (incoming, outgoing, proceed) =>
        isCreation(incoming) && isCutOff ? answerLost(incoming, outgoing, proceed) : proceed();
      const refused = isCutOff ? {} : { SVC_LEDGER: machine.path('nowhere') };
      ended(await machine.svc(SUBMIT, { ...CANNOT_READ_TENANT, ...refused }), isCutOff ? 9 : 3, { uploads: 0 });
      machine.fault = undefined;
      const elsewhere = { ...CANNOT_READ_TENANT, SVC_STATE_DIR: machine.path('elsewhere') };
      // The other machine is stopped by the job of the first command.
      ended(await machine.svc(SUBMIT, elsewhere), 11, { uploads: 0 });
      const { job } = rowOf(await machine.svc(`${SUBMIT} --new-ledger`, elsewhere));
      const { unrecorded_jobs: jobs } = errorIn(
        ended(await machine.svc(SUBMIT, CANNOT_READ_TENANT), 11, { uploads: 1 }),
      );
      expect(jobs).toHaveLength(isCutOff ? 3 : 2);
      expect(jobs).toContain(job);
    },
  );

  it('R75: a command that was cut off while it created a job to find the tenant stops no later one', async () => {
    const machine = await openMachine();
    machine.fault = (incoming, outgoing, proceed) =>
      isCreation(incoming) ? answerLost(incoming, outgoing, proceed) : proceed();
    ended(await machine.svc(SUBMIT, CANNOT_READ_TENANT), 9, { uploads: 0 });
    machine.fault = undefined;
    ended(await machine.svc(SUBMIT, CANNOT_READ_TENANT), 0, { uploads: 1 });
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
  succeeded(await machine.svc('au submit first.csv', env));
  await machine.clock.advance(60_000);
  succeeded(await machine.svc(`${SUBMIT} --new-ledger`, outside));
  const runner = { ...env, SVC_STATE_DIR: machine.path('runner'), SVC_CACHE_DIR: machine.path('runner-cache') };
  const refuse = async (): Promise<string> => {
    await machine.clock.advance(20_000);
    const refused = ended(await machine.svc(SUBMIT, runner), 9, { uploads: 2 });
    return refused.stderr;
  };
  expect(await refuse()).toContain('created job');
  expect(await refuse()).not.toContain('created job');
  expect(await refuse()).not.toContain('created job');
});

it('R74: a shared ledger that a machine with a wrong clock began in the future does not know a job from outside, which stops the upload', async () => {
  const machine = await openMachine();
  const shared = sharedLedger(machine.path('ledger'));
  otherFile(machine, 'first.csv', 'one');
  const ahead = new FakeClock({ start: machine.clock.now() + 10 * DAY });
  succeeded(await machine.svc('au submit first.csv', shared, ahead));
  await machine.clock.advance(60_000);
  const outside = { SVC_STATE_DIR: machine.path('outside') };
  succeeded(await machine.svc(`${SUBMIT} --new-ledger`, outside));
  ended(await machine.svc(SUBMIT, { ...shared, SVC_STATE_DIR: machine.path('runner') }), 9, { uploads: 2 });
});

it('a shared ledger that a machine with a wrong clock began in the past is not stopped by jobs from before it', async () => {
  const machine = await openMachine();
  otherFile(machine, 'first.csv', 'one');
  otherFile(machine, 'second.csv', 'two');
  succeeded(await machine.svc(SUBMIT));
  await machine.clock.advance(DAY);
  const shared = { ...sharedLedger(machine.path('ledger')), SVC_STATE_DIR: machine.path('runner') };
  const behind = new FakeClock({ start: machine.clock.now() - 10 * DAY });
  succeeded(await machine.svc('au submit first.csv --new-ledger', shared, behind));
  succeeded(await machine.svc('au submit second.csv', shared));
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
      const refused = ended(await machine.svc(line), 9, { uploads: 0 });
      expect(String(errorIn(refused)['message'])).toContain(named);
    }
    ended(
      await machine.svc(`${SUBMIT} --new-ledger`),
      0,
      /^warning: 1 job of this key that the ledger does not know/m,
      named,
      { uploads: 1 },
    );
  },
);

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

/** Changes the job in the service's response to a creation. */
function createdAs(change: (job: Record<string, unknown>) => Record<string, unknown>): Fault {
  return (incoming, outgoing, proceed) => {
    if (isCreation(incoming)) changeJson(outgoing, change);
    proceed();
  };
}

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
    for (const options of ['', '--wait --out results.csv'])
      ended(await machine.svc(`${SUBMIT} ${options}`.trim()), 8, 'was to create a job');
    expect(machine.jobs()).toEqual([]);
    machine.fault = undefined;
    expect(machine.uploads()).toBe(0);
    ended(await machine.svc(SUBMIT), 0, { uploads: 1 });
  },
);

it('R73: a job that the service says it created is not uploaded to when it has the rows of another file, whatever it looks like', async () => {
  const machine = await openMachine();
  otherFile(machine, 'more.csv', 'one-more');
  const { stdout } = await machine.svc('au submit more.csv');
  const { job } = JSON.parse(stdout) as { job: string };
  machine.fault = createdAs((created) => ({ ...created, id: job }));
  ended(await machine.svc(SUBMIT), 6, job);
  machine.fault = undefined;
  expect([machine.uploads(), machine.files(job).sent]).toEqual([1, 'stored']);
});
