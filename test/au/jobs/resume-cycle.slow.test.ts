import * as cycleNames from '../../../src/au/ledger/cycle-names.ts';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Draft } from '../../../src/base/files/draft.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { RESULT_COLUMNS } from '../../../src/schema/account-updater-files.ts';
import { ended, errorIn, type HereResult, rowOf, rowsIn, succeeded } from '../../support/run-here.ts';
import { openQuickDesk } from '../commands/support.ts';
import { JobFaults } from '../job-faults.ts';

/** The column of the new token in a result file. */
const NEW_TOKEN = RESULT_COLUMNS.indexOf('new_token');

afterEach(() => vi.restoreAllMocks());

const HOUR_MS = 3_600_000;
const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');

/** Two machines that sent the halves of a file in one cycle, with a third one that only shares their ledger. */
async function openHalves() {
  const service = new JobFaults();
  const desk = await openQuickDesk({ processingMs: HOUR_MS, intercept: service.intercept });
  const { on } = desk;
  const submit = async (machine: string, file: string, rows: readonly string[]): Promise<string> => {
    writeFileSync(desk.home.file(file), `${[HEADER, ...rows].join('\n')}\n`);
    const { stdout } = succeeded(await on(machine, `au submit ${file} --cycle 2026-12`));
    return (JSON.parse(stdout) as { readonly job: string }).job;
  };
  const jobs = [
    await submit('runner', 'first.csv', ROWS.slice(0, 20)),
    await submit('laptop', 'second.csv', ROWS.slice(20)),
  ];
  await desk.clock.advance(60_000);
  const results = (name: string) => readFileSync(desk.home.file(name), 'utf8').trimEnd().split('\n').slice(1);
  return { ...desk, submit, service, jobs, results };
}

describe('a cycle that other machines sent', () => {
  it('R84: a machine that sent nothing gets the results of a cycle, as the machines that sent it do', async () => {
    const { on, jobs, results, uploads } = await openHalves();
    ended(await on('fresh', 'au resume 2026-12 --wait'), 0, 'cycle 2026-12 completed: results in 2026-12.results.csv', {
      row: { cycle: '2026-12', status: 'completed', rows: 40, jobs },
    });
    for (const [machine, file] of [
      ['runner', 'first'],
      ['laptop', 'second'],
    ] as const)
      expect(await on(machine, `au submit ${file}.csv --cycle 2026-12 --wait`)).toMatchObject({ code: 0 });
    expect(results('2026-12.results.csv')).toEqual([...results('first.results.csv'), ...results('second.results.csv')]);
    expect(uploads()).toBe(2);
  });

  it('the results of a cycle are downloaded again where those that this machine keeps were changed', async () => {
    const { on, clock, home, jobs, results } = await openHalves();
    await clock.advance(HOUR_MS);
    succeeded(await on('laptop', 'au submit second.csv --cycle 2026-12 --wait'));
    const kept = home.file(`laptop/jobs/${jobs[1]}/results.csv`);
    expect(existsSync(kept)).toBe(true);
    writeFileSync(kept, readFileSync(kept, 'utf8').split('\n').slice(0, 3).join('\n'));
    succeeded(await on('laptop', 'au resume 2026-12 --wait'));
    expect(results('2026-12.results.csv').slice(-results('second.results.csv').length)).toEqual(
      results('second.results.csv'),
    );
  });

  it('R85: the tokens that a cycle made are in the ledger once any machine has its results', async () => {
    const { on, results, home } = await openHalves();
    succeeded(await on('fresh', 'au resume 2026-12 --wait'));
    const made = results('2026-12.results.csv').flatMap((line) => line.split(',')[NEW_TOKEN] || []);
    expect(made.length).toBeGreaterThan(0);
    writeFileSync(home.file('made.csv'), `${[HEADER, ...made.map((token) => `${token},27,01,`)].join('\n')}\n`);
    ended(await on('laptop', 'au submit made.csv --cycle 2026-12'), 0, { uploads: 2, row: { status: 'nothing_new' } });
  });

  it('a cycle that is under way ends with 11, shows how far it is, and writes no file', async () => {
    const { on, jobs } = await openHalves();
    ended(await on('fresh', 'au resume 2026-12'), 11, 'au resume 2026-12 --wait', {
      row: { status: 'pending', jobs, progress: '2 processing' },
    });
    succeeded(await on('fresh', 'au resume 2026-12 --wait'));
  });

  it.each([
    ['is waited for', 'completed', '', [0, 'completed']],
    ['ends it with 10 if it fails', 'failed', '', [10, 'not completed']],
    ['ends it with 11 if the time passes first', 'processing', ' --timeout 70m', [11, 'pending']],
  ])('R72: a job that another machine sends in the cycle during a wait %s', async (_, status, limit, expected) => {
    const { on, service, clock, submit, home, results } = await openHalves();
    const sleep = clock.sleep.bind(clock);
    const begun = clock.now();
    let late = '';
    const sleeping = vi.spyOn(clock, 'sleep').mockImplementation(async (ms, signal) => {
      if (clock.now() - begun > HOUR_MS / 2) {
        sleeping.mockRestore();
        late = await submit('runner-2', 'late.csv', ['one-more,,,']);
        if (status === 'failed') service.failed = [late];
      }
      return sleep(ms, signal);
    });
    const waited = await on('fresh', `au resume 2026-12 --wait${limit}`);
    const shown = JSON.parse(waited.stdout.trim().split('\n}\n').at(-1) ?? '') as { status: string; jobs: string[] };
    expect([waited.code, shown.status], waited.stderr).toEqual(expected);
    expect(shown.jobs).toContain(late);
    const written = existsSync(home.file('2026-12.results.csv')) ? results('2026-12.results.csv') : [];
    expect(written.some((row) => row.includes('one-more'))).toBe(status === 'completed');
  });

  it('a cycle of which this machine sent two files ends with 11 when the time passes, and says of neither that it was not polled', async () => {
    const { on, home } = await openHalves();
    writeFileSync(home.file('made-up.csv'), `${HEADER}\none-more,,,\n`);
    succeeded(await on('runner', 'au submit made-up.csv --cycle 2026-12'));
    ended(await on('runner', 'au resume 2026-12 --wait --timeout 10m'), 11, { unsaid: 'not polled' });
  });

  it('a cycle that is under way names a next command with the options typed', async () => {
    const { on } = await openHalves();
    ended(await on('fresh', 'au resume 2026-12 --wait --out all.csv --fail-on err --timeout 10m'), 11, {
      error: { next: 'svc au resume 2026-12 --wait --out all.csv --fail-on err' },
    });
  });

  it('a cycle with a job that failed ends with 10, its rows are free, and the next submission sends them', async () => {
    const { on, home, jobs, service } = await openHalves();
    service.failed = jobs.slice(0, 1);
    ended(await on('fresh', 'au resume 2026-12'), 10, jobs[0], { uploads: 2 });
    // The other rows have results. The cycle is not complete while no job has these, although the failure was shown before.
    const again = await on('laptop', 'au resume 2026-12 --wait');
    expect([again.code, JSON.parse(again.stdout.trim().split('\n}\n').at(-1) ?? '')], again.stderr).toEqual([
      10,
      expect.objectContaining({
        status: 'not completed',
        results: expect.objectContaining({ file: '2026-12.results.csv' }),
      }),
    ]);
    expect(again.stderr).toContain('has 20 rows of first.csv');
    expect(again.stderr).toContain('the results of the completed jobs of cycle 2026-12 are in 2026-12.results.csv');
    writeFileSync(home.file('some.csv'), `${[HEADER, ...ROWS.slice(0, 7)].join('\n')}\n`);
    succeeded(await on('fresh', 'au submit some.csv --cycle 2026-12'));
    const left = await on('laptop', 'au resume 2026-12 --wait --force');
    expect([left.code, left.stderr.includes('has 13 rows of first.csv')], left.stderr).toEqual([10, true]);
    ended(await on('fresh', 'au submit first.csv --cycle 2026-12'), 0, { uploads: 4 });
  });

  it.each(['au resume 2026-12', 'au resume 2026-12 --wait --timeout 10m'])(
    'R72: a cycle ends with 10 while no job has rows of one that failed before and another job is under way: svc %s',
    async (line) => {
      const { on, jobs, service } = await openHalves();
      service.failed = jobs.slice(0, 1);
      ended(await on('fresh', 'au resume 2026-12'), 10);
      ended(await on('fresh', line), 10, 'has 20 rows of first.csv', 'svc au submit first.csv --cycle 2026-12', {
        row: { status: 'not completed', jobs: jobs.slice(1), progress: 'processing' },
      });
    },
  );

  it('R79: rows of a job that the operator abandoned are paid for where the service says later that it has its file', async () => {
    const { on, jobs, service, uploads } = await openHalves();
    const submit = 'au submit first.csv --cycle 2026-12';
    service.say = (job) => (job.id === jobs[0] ? { ...job, status: 'pending' } : job);
    succeeded(await on('laptop', `au abandon ${jobs[0]} --yes`));
    service.clear();
    ended(await on('laptop', `au abandon ${jobs[0]} --yes`), 6, 'not free: the service is processing it');
    ended(await on('runner', submit), 0, '20 rows of first.csv are in cycle 2026-12 already', { uploads: 2 });
    ended(await on('laptop', 'au resume --wait'), 0, { row: { rows: 40, status: 'completed' } });
    expect(uploads()).toBe(2);
  });

  it.each(['au resume', 'au resume 2026-12'])(
    'R79: rows of a job that the operator abandoned while a command waited for it are paid for once that has its results, as svc %s says',
    async (line) => {
      const { on, jobs, service, clock } = await openHalves();
      const submit = 'au submit first.csv --cycle 2026-12';
      let waited = 0;
      let abandoned: Promise<unknown> | undefined;
      service.say = (job) => {
        if (job.id !== jobs[0] || (waited += 1) > 8) return job;
        if (waited === 3) abandoned = on('laptop', `au abandon ${jobs[0]} --yes`);
        return { ...job, status: 'pending' };
      };
      succeeded(await on('runner', `${submit} --wait`));
      ended((await abandoned) as HereResult, 0, 'are free');
      service.forgotten = jobs.slice(0, 1);
      await clock.advance(8 * 24 * HOUR_MS);
      ended(await on('runner', line), 0, { row: { rows: 40 } });
      ended(await on('runner', submit), 0, { uploads: 2 });
    },
  );

  it('R72: rows of a job that the operator abandoned are asked for until they are sent, or left out of their cycle by another svc au abandon', async () => {
    const { on, jobs, service, results } = await openHalves();
    const abandon = `au abandon ${jobs[0]} --yes`;
    service.say = (job) => (job.id === jobs[0] ? { ...job, status: 'pending' } : job);
    ended(await on('laptop', abandon), 0, { row: { progress: 'rows are free', rows: 20 } });
    for (const line of ['au resume', 'au resume 2026-12', 'au resume --wait'])
      ended(await on('fresh', line), 10, 'has 20 rows of first.csv', `svc ${abandon.replace(' --yes', '')}`);
    expect(rowsIn(succeeded(await on('fresh', 'au status')).stdout)).toEqual([
      expect.objectContaining({ lost_rows: 20 }),
    ]);
    ended(await on('laptop', abandon), 0, { row: { progress: 'left out of the cycle', rows: 20 } });
    ended(await on('fresh', 'au resume 2026-12 --wait --force'), 0, 'cycle 2026-12 completed');
    expect(results('2026-12.results.csv')).toHaveLength(ROWS.length - 20);
    ended(await on('fresh', 'au resume'), 0, 'nothing is open');
  });

  it.each(['', ' --timeout 10s'])(
    'a cycle with a job that the service does not know ends with 9 and frees nothing, with --wait%s',
    async (limit) => {
      const { on, jobs, service, uploads } = await openHalves();
      service.forgotten = jobs.slice(0, 1);
      ended(await on('runner', `au resume 2026-12 --wait${limit}`), 9);
      ended(await on('fresh', `au resume 2026-12 --wait${limit}`), 9, jobs[0]);
      const again = await on('fresh', 'au submit first.csv --cycle 2026-12');
      expect(uploads(), again.stderr).toBe(2);
      ended(await on('fresh', 'au status 2026-12'), 9);
    },
  );

  it('a service that shows no job, and not whose the key is, hides no cycle of a ledger', async () => {
    const { on, jobs, service, clock } = await openHalves();
    const single = succeeded(await on('runner', 'au submit tokens.csv --cycle 2026-10 --pay-again'));
    service.forgotten = [...jobs, (JSON.parse(single.stdout) as { readonly job: string }).job];
    await clock.advance(2 * HOUR_MS);
    // The cycle 2026-10 has one entry only.
    const lines = ['au resume 2026-12', 'au resume', 'au status 2026-12', 'au status 2026-10', 'au status'];
    for (const line of lines) ended(await on('fresh', line), 9, "shows no job of this key's tenant");
    ended(await on('fresh', 'au resume 2026-11'), 5);
    succeeded(await on('fresh', 'au create'));
    let created = 0;
    service.refuse = (method) => void (created += Number(method === 'POST'));
    const told = await on('fresh', 'au resume 2026-12');
    expect(told.code, told.stderr).toBe(10);
    // One more job proves that both were deleted.
    expect(told.stderr).toContain(`job ${jobs[0]} with 20 rows`);
    expect((await on('fresh', 'au status 2026-12')).stdout).not.toContain('"freed":null');
    expect(created).toBe(1);
  });

  it('a cycle whose lost job is older than a week names the command that frees its rows, on any machine', async () => {
    const { on, jobs, service, clock, uploads } = await openHalves();
    service.forgotten = jobs.slice(0, 1);
    ended(await on('fresh', 'au submit first.csv --cycle 2026-12'), 9);
    await clock.advance(8 * 24 * HOUR_MS);
    for (const line of ['au resume 2026-12', 'au submit first.csv --cycle 2026-12'])
      ended(await on('fresh', line), 9, `svc au abandon ${jobs[0]}`, { unsaid: 'settles it' });
    expect(uploads()).toBe(2);
    succeeded(await on('fresh', `au abandon ${jobs[0]} --yes`));
    ended(await on('fresh', 'au submit first.csv --cycle 2026-12'), 0, { uploads: 3 });
  });

  it('results of a cycle that an earlier command wrote stay and end with 0, unless somebody changed them', async () => {
    const { on, home } = await openHalves();
    const file = home.file('2026-12.results.csv');
    succeeded(await on('fresh', 'au resume 2026-12 --wait'));
    const { ino } = statSync(file);
    const again = await on('fresh', 'au resume 2026-12 --wait');
    expect([again.code, statSync(file).ino], again.stderr).toEqual([0, ino]);
    const changed = readFileSync(file, 'utf8').split('\n').slice(0, 4).join('\n');
    writeFileSync(file, changed);
    ended(await on('fresh', 'au resume 2026-12 --wait'), 2);
    expect(readFileSync(file, 'utf8')).toBe(changed);
  });

  it('R70: results that a command reports are whole where another one begins to write the same file meanwhile', async () => {
    const { on, home, results } = await openHalves();
    const begin = Draft.begin.bind(Draft);
    let other: Draft | undefined;
    vi.spyOn(Draft, 'begin').mockImplementation(async (target, mark) => {
      const draft = await begin(target, mark);
      if (!target.endsWith('2026-12.results.csv') || other) return draft;
      other = await begin(target, mark);
      await other.write(Buffer.from('token\n'));
      return draft;
    });
    const told = await on('fresh', 'au resume 2026-12 --wait');
    expect([told.code, other === undefined], told.stderr).toEqual([0, false]);
    const { results: shown } = JSON.parse(told.stdout) as { readonly results: { readonly bytes: number } };
    expect(statSync(home.file('2026-12.results.csv')).size).toBe(shown.bytes);
    expect(results('2026-12.results.csv').length).toBeGreaterThan(30);
    await other?.discard();
  });

  it('results of a cycle that another command wrote while this one did are the results of both', async () => {
    const { on, home, jobs } = await openHalves();
    const file = home.file('2026-12.results.csv');
    const begin = Draft.begin.bind(Draft);
    let text = 'mine\n';
    vi.spyOn(Draft, 'begin').mockImplementation((target, mark) => {
      if (target.endsWith('2026-12.results.csv')) writeFileSync(file, text);
      return begin(target, mark);
    });
    ended(await on('fresh', 'au resume 2026-12 --wait'), 2);
    expect(readFileSync(file, 'utf8')).toBe('mine\n');
    // Nobody has the results yet.
    expect(await openOn(on, 'other')).toEqual(jobs);
    succeeded(await on('fresh', 'au resume 2026-12 --wait --out all.csv'));
    text = readFileSync(home.file('all.csv'), 'utf8');
    rmSync(file);
    succeeded(await on('fresh', 'au resume 2026-12 --wait'));
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('R85: a result file is refused before any result is read where some of the cycle were not read', async () => {
    const { on, home } = await openHalves();
    const file = home.file('2026-12.results.csv');
    writeFileSync(file, `${RESULT_COLUMNS.join(',')}\n`);
    ended(await on('fresh', 'au resume 2026-12 --wait'), 2);
    expect(readFileSync(file, 'utf8')).toBe(`${RESULT_COLUMNS.join(',')}\n`);
    // Nothing counts as read that this command did not keep.
    expect((await on('fresh', 'au status 2026-12')).stdout).not.toContain('"results_read":true');
    succeeded(await on('fresh', 'au resume 2026-12 --wait --force'));
    expect(readFileSync(file, 'utf8').split('\n').length).toBeGreaterThan(30);
  });

  it('svc au resume without a name goes on with a cycle whose jobs only other machines sent', async () => {
    const { on } = await openHalves();
    ended(await on('fresh', 'au resume'), 11, {
      row: { cycle: '2026-12', progress: '2 processing', outcome: 'pending' },
    });
    ended(await on('fresh', 'au refresh'), 2, '"next":"svc au resume 2026-12 --wait"');
    succeeded(await on('fresh', 'au resume --wait'));
    ended(await on('fresh', 'au resume'), 0, 'nothing is open');
  });

  it('a dry run of a cycle says what it would do', async () => {
    const { on } = await openHalves();
    ended(
      await on('fresh', 'au resume 2026-12 --dry-run'),
      0,
      'dry run: it would poll 2 jobs and write 2026-12.results.csv',
      { row: { cycle: '2026-12', status: 'not polled', jobs: [expect.any(String), expect.any(String)] } },
    );
  });
});

/** Returns the jobs that a machine shows as open. */
async function openOn(on: Awaited<ReturnType<typeof openHalves>>['on'], machine: string): Promise<string[]> {
  const { stdout } = await on(machine, 'au status');
  return (JSON.parse(stdout || '{"open_jobs":[]}') as { readonly open_jobs: string[] }).open_jobs;
}

it('rows of a job that failed on another machine are sent again only once svc au submit has said so', async () => {
  const { on, service, jobs, home } = await openHalves();
  writeFileSync(home.file('all.csv'), `${[HEADER, ...ROWS].join('\n')}\n`);
  succeeded(await on('fresh', 'au submit all.csv --cycle 2026-12'));
  service.forgotten = jobs.slice(0, 1);
  ended(await on('fresh', 'au submit all.csv --cycle 2026-12'), 9);
  service.forgotten = [];
  service.failed = jobs.slice(0, 1);
  ended(await on('fresh', 'au submit all.csv --cycle 2026-12'), 10, { uploads: 2 });
  ended(await on('fresh', 'au submit all.csv --cycle 2026-12'), 0, { uploads: 3 });
});

describe('results that nobody received', () => {
  it('R84: results that a submission read only for their new tokens stay open until somebody receives them', async () => {
    const { on, clock, jobs, home, results } = await openHalves();
    await clock.advance(HOUR_MS);
    writeFileSync(home.file('made-up.csv'), `${HEADER}\none-more,,,\n`);
    ended(await on('fresh', 'au submit made-up.csv --cycle 2026-12 --wait'), 0, 'reading the results of job');
    expect(await openOn(on, 'fresh')).toEqual(jobs);
    expect(await openOn(on, 'other')).toEqual(jobs);
    succeeded(await on('other', 'au resume 2026-12 --wait'));
    expect(results('2026-12.results.csv').length).toBeGreaterThan(results('made-up.results.csv').length);
    expect(await openOn(on, 'fresh')).toEqual([]);
  });

  it('R84: the results of a forgotten job are written from those that another file got of it', async () => {
    const { on, clock, service, jobs, home, results } = await openHalves();
    await clock.advance(HOUR_MS);
    writeFileSync(home.file('some.csv'), `${[HEADER, ...ROWS.slice(0, 5)].join('\n')}\n`);
    succeeded(await on('fresh', 'au submit some.csv --cycle 2026-12 --wait'));
    succeeded(await on('runner', 'au submit first.csv --cycle 2026-12 --wait'));
    succeeded(await on('laptop', 'au submit second.csv --cycle 2026-12 --wait'));
    await clock.advance(20 * 24 * HOUR_MS);
    service.forgotten = jobs.slice(0, 1);
    const received = succeeded(await on('fresh', 'au resume 2026-12 --out all.csv'));
    // They were compared with the rows of the other file, and not with those of the job.
    expect(JSON.parse(received.stdout)).toMatchObject({ results: { compared: false } });
    expect(results('all.csv')).toEqual([...results('first.results.csv'), ...results('second.results.csv')]);
  });

  it('R84: the results of a job stay open that another file needed only in part', async () => {
    const { on, clock, jobs, home } = await openHalves();
    await clock.advance(HOUR_MS);
    writeFileSync(home.file('some.csv'), `${[HEADER, ...ROWS.slice(0, 5)].join('\n')}\n`);
    succeeded(await on('fresh', 'au submit some.csv --cycle 2026-12 --wait'));
    expect(await openOn(on, 'fresh')).toEqual(jobs);
    writeFileSync(home.file('whole.csv'), `${[HEADER, ...ROWS].join('\n')}\n`);
    succeeded(await on('other', 'au submit whole.csv --cycle 2026-12 --wait'));
    expect(await openOn(on, 'fresh')).toEqual([]);
  });

  it.runIf(existsSync('/dev/full'))(
    'R84: the results of a job or file stay open that a device did not take, until somebody receives them',
    async () => {
      const { on, clock, jobs, home } = await openHalves();
      await clock.advance(HOUR_MS);
      const [first = '', second] = jobs;
      const line = 'au submit second.csv --cycle 2026-12 --wait';
      ended(await on('fresh', `au download ${first} --out /dev/full`), 1);
      ended(await on('laptop', `${line} --out /dev/full`), 1);
      expect(await openOn(on, 'other')).toEqual(jobs);
      for (const file of ['job.csv', 'again.csv']) {
        succeeded(await on('fresh', `au download ${first} --out ${file}`));
        expect(await openOn(on, 'other')).toEqual([second]);
      }
      succeeded(await on('laptop', line));
      expect(existsSync(home.file('second.results.csv'))).toBe(true);
      expect(await openOn(on, 'other')).toEqual([]);
    },
  );

  it('the next month begins while jobs stay open of which the month before needed only some rows', async () => {
    const { on, clock, jobs, home } = await openHalves();
    await clock.advance(HOUR_MS);
    writeFileSync(home.file('some.csv'), `${[HEADER, ...ROWS.slice(15, 25)].join('\n')}\n`);
    succeeded(await on('fresh', 'au submit some.csv --cycle 2026-12 --wait'));
    await clock.advance(31 * 24 * HOUR_MS);
    succeeded(await on('fresh', 'au submit some.csv --cycle 2027-01'));
    const status = await on('fresh', 'au status');
    expect(status.stdout).toContain(`"open_jobs":["${jobs.join('","')}"]`);
  });

  it('R84: every job of a cycle stays open where the results of one of them could not be read', async () => {
    const { on, clock, service, jobs } = await openHalves();
    await clock.advance(HOUR_MS);
    service.refuse = (_, url) => (url.includes(`/store/results/${jobs[1]}`) ? 503 : undefined);
    ended(await on('fresh', 'au resume 2026-12'), 8);
    expect(await openOn(on, 'other')).toEqual(jobs);
  });
});

it('a cycle with a closed job that the service has forgotten ends with 9, says what is missing, and writes the other results', async () => {
  const { on, clock, service, jobs, home, results } = await openHalves();
  await clock.advance(HOUR_MS);
  succeeded(await on('laptop', 'au submit second.csv --cycle 2026-12 --wait'));
  // The results of the first job are read only for the tokens that they made.
  writeFileSync(home.file('more.csv'), `${HEADER}\none-more,,,\n`);
  succeeded(await on('laptop', 'au submit more.csv --cycle 2026-12 --wait'));
  await clock.advance(20 * 24 * HOUR_MS);
  service.forgotten = jobs.slice(0, 1);
  ended(await on('laptop', 'au resume 2026-12 --out all.csv'), 9, { error: { next: `svc au abandon ${jobs[0]}` } });
  succeeded(await on('laptop', `au abandon ${jobs[0]} --yes`));
  const row = { status: 'not completed', rows: 41, progress: '1 not found, 2 completed' };
  for (const machine of ['laptop', 'laptop', 'fresh']) {
    const told = ended(await on(machine, 'au resume 2026-12 --out all.csv'), 9, { row: row });
    const { results: counted } = JSON.parse(told.stdout) as { results: Record<string, unknown> };
    const members = 'file bytes sha256 compared updated warned errors unknown unchanged codes'.split(' ');
    expect(Object.keys(counted).toSorted()).toEqual(members.toSorted());
    expect(errorIn(told)).toMatchObject({ jobs: jobs.slice(0, 1), rows: 20, next: 'svc au status 2026-12' });
    expect(told.stderr).toContain(`the service does not find job ${jobs[0]} with 20 rows of cycle 2026-12, sent by`);
    expect(told.stderr).toContain('A machine that has the results writes all of them with the same command.');
    expect(results('all.csv')).toEqual([...results('second.results.csv'), ...results('more.results.csv')]);
  }
  // Results without these rows replace no file that may have them.
  for (const options of ['', ' --force']) {
    writeFileSync(home.file('full.csv'), readFileSync(home.file('second.results.csv')));
    ended(await on('laptop', `au resume 2026-12 --out full.csv${options}`), 9, 'full.csv was not replaced');
    expect(results('full.csv')).toEqual(results('second.results.csv'));
  }
  ended(await on('fresh', 'au resume 2026-12 --out all.csv --fail-on err'), 9);
  // A machine that keeps none of the results writes no file.
  service.forgotten = (
    JSON.parse((await on('fresh', 'au resume 2026-12 --out all.csv')).stdout) as { jobs: string[] }
  ).jobs;
  succeeded(await on('fresh', 'au create'));
  ended(await on('other', 'au resume 2026-12 --out none.csv'), 9);
  expect(existsSync(home.file('none.csv'))).toBe(false);
});

it('svc au status shows the jobs of a cycle, who sent them, and whether somebody read their results', async () => {
  const { on, jobs } = await openHalves();
  const rows = async () => {
    const { stdout } = succeeded(await on('fresh', 'au status 2026-12'));
    return rowsIn<Readonly<Record<string, unknown>>>(stdout);
  };
  expect(await rows()).toMatchObject([
    { job: jobs[0], status: 'processing', rows: 20, file: 'first.csv', results_read: false, freed: null, proof: null },
    { job: jobs[1], status: 'processing', rows: 20, file: 'second.csv', results_read: false, freed: null, proof: null },
  ]);
  await on('fresh', 'au resume 2026-12 --wait');
  expect((await rows()).map(({ results_read: wasRead }) => wasRead)).toEqual([true, true]);
});

it('a cycle without a job that has rows ends with 10 while rows are wanted, and with 0 once they were left out', async () => {
  const service = new JobFaults();
  const { svc } = await openQuickDesk({ intercept: service.intercept });
  const job = String(rowOf(await svc('au submit tokens.csv --cycle 2026-12'))['job']);
  service.failed = [job];
  ended(await svc('au resume 2026-12'), 10);
  const row = { cycle: '2026-12', rows: 0, jobs: [] };
  ended(await svc('au resume 2026-12'), 10, 'no job of 2026-12 has', { row: { ...row, status: 'not completed' } });
  succeeded(await svc(`au abandon ${job} --yes`));
  ended(await svc('au resume 2026-12'), 0, 'nothing is left to do', { row: { ...row, status: 'completed' } });
});

it('no cycle begins with a name that looks like the id of a job or is not safe as the name of a folder', async () => {
  const { on, home, uploads } = await openHalves();
  writeFileSync(home.file('more.csv'), `${HEADER}\none-more,,,\n`);
  for (const [name, why] of [
    ['a0b1c2d3-0000-4000-8000-00000000000c', 'looks like the id of a job'],
    ['-x', 'is not safe as the name of a folder'],
    ['2026-12_', 'is not safe as the name of a folder'],
    ['con', 'is not safe as the name of a folder'],
  ])
    for (const [machine, options] of [
      ['laptop', ''],
      ['laptop', ' --pay-again --new-ledger'],
      ['fresh', ' --dry-run'],
    ] as const) {
      ended(
        await on(machine, `au submit more.csv --cycle ${name}${options}`),
        2,
        `no cycle can begin with the name ${name}, which ${why}`,
      );
    }
  expect(uploads()).toBe(2);
});

it.each(['run-2026-12', '2026-12_'])(
  'a cycle with the name %s that an earlier version began goes on, and is shown and resumed like any other',
  async (name) => {
    const { on, clock, home, results } = await openHalves();
    writeFileSync(home.file('more.csv'), `${HEADER}\none-more,,,\n`);
    const begins = vi.spyOn(cycleNames, 'requireClearName').mockReturnValue();
    succeeded(await on('laptop', `au submit more.csv --cycle ${name}`));
    begins.mockRestore();
    await clock.advance(60_000);
    writeFileSync(home.file('more.csv'), `${HEADER}\none-more,,,\nanother,,,\n`);
    succeeded(await on('laptop', `au submit more.csv --cycle ${name}`));
    const shown = await on('laptop', `au status ${name}`);
    expect([shown.code, shown.stdout.trimEnd().split('\n').length], shown.stderr).toEqual([0, 2]);
    ended(await on('laptop', `au resume ${name} --wait`), 0, { row: { cycle: name, rows: 2 } });
    expect(results(`${name}.results.csv`)).toHaveLength(2);
  },
);

it.each([
  ['au resume --out all.csv', '--out is about a cycle, and none is named'],
  ['au resume --out all.csv', 'none is named","hint":"Name one of what is open:","next":"svc au status"'],
  ['au resume 9027a766-81b5-4e90-a497-22000941becd --fail-on err', 'and this is a job'],
  ['au resume 2026-12 --out -', 'svc au resume 2026-12 --wait --out <file>'],
])('an option that means nothing for what is resumed is refused: svc %s', async (line, message) => {
  const { svc } = await openQuickDesk();
  ended(await svc(line), 2, message, { stdout: '' });
});
