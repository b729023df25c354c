import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { ended, errorIn, rowOf, succeeded } from '../../support/run-here.ts';
import { openMachine } from '../commands/machine.ts';
import { openQuickDesk, type QuickDesk, writeRows } from '../commands/support.ts';
import { isJobList, JobFaults, jobReadBy } from '../job-faults.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const CYCLE = '--cycle 2026-12';
const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');

/** A desk on which the first rows of the example file are submitted in a cycle. */
interface SubmittedDesk extends QuickDesk {
  readonly job: string;
  readonly service: JobFaults;
}

async function submittedDesk(options = CYCLE, rows = ROWS.slice(0, 6)): Promise<SubmittedDesk> {
  const service = new JobFaults();
  const desk = await openQuickDesk({ intercept: service.intercept });
  writeRows(desk, 'tokens.csv', ...rows);
  const { job } = rowOf(await desk.svc(`au submit tokens.csv ${options}`.trim()));
  return { ...desk, job: String(job), service };
}

/** Returns the rows that the store received, of all jobs in turn. */
function sent({ received }: QuickDesk): string[] {
  return received().flatMap((text) => text.trimEnd().split('\n').slice(1));
}

/** Returns a column of a result file. */
function column({ home }: QuickDesk, name: string, of: string): string[] {
  const [header = '', ...rows] = readFileSync(home.file(name), 'utf8').trimEnd().split('\n');
  const at = header.split(',').indexOf(of);
  return rows.map((row) => row.split(',')[at] ?? '');
}

/** Returns rows with the tokens that the results of the desk's job made, which another program has. */
async function rowsMadeUnseen(desk: SubmittedDesk): Promise<string[]> {
  const other = { SVC_STATE_DIR: desk.home.file('other') };
  rowOf(await desk.svc(`au download ${desk.job} --out results.csv`, other));
  const made = column(desk, 'results.csv', 'new_token').filter(Boolean);
  return made.map((token) => `${token},27,01,`);
}

const unfinished = (job: object): object => ({ ...job, status: 'processing' });
/** Ways in which the results of a completed job cannot be read. */
const UNREADABLE: readonly (readonly [string, Partial<JobFaults>])[] = [
  ['no address', { say: (job) => ({ ...job, download_url: null }) }],
  ['a refusal', { refuse: (_, url) => (url.startsWith('/store/results/') ? 403 : undefined) }],
];

const tokenOf = (row: string): string => row.split(',')[0] ?? '';

it('R79: a file of a cycle that shares rows with another one ends with 0: they are left out and said, with their job', async () => {
  const desk = await submittedDesk();
  await desk.clock.advance(240_000);
  writeRows(desk, 'more.csv', ...ROWS.slice(4, 9).toReversed());
  ended(
    await desk.svc(`au submit more.csv ${CYCLE}`),
    0,
    new RegExp(`^2 of 5 rows of more\\.csv are in cycle 2026-12 already: sent by .*, 4m.* ago, job ${desk.job} `, 'm'),
    { row: { file: 'more.csv' } },
  );
  expect(sent(desk)).toEqual([...ROWS.slice(0, 6), ...ROWS.slice(6, 9).toReversed()]);
});

it('R79: a file of a cycle delivers the results of the rows that were left out too, in the order of the file', async () => {
  const desk = await submittedDesk();
  const rows = [ROWS[7], ROWS[1], ROWS[8], ROWS[0], ROWS[6], ROWS[5]].map((row) => row ?? '');
  writeRows(desk, 'more.csv', ...rows);
  const done = rowOf(await desk.svc(`au submit more.csv ${CYCLE} --wait`));
  expect(done).toMatchObject({ status: 'completed', results: { compared: true } });
  const tokens = column(desk, 'more.results.csv', 'token');
  expect(tokens).toEqual(rows.map(tokenOf).filter((token) => tokens.includes(token)));
  // The whole cycle at once, in another cycle, gives the same results for these rows.
  writeRows(desk, 'alone.csv', ...rows);
  rowOf(await desk.svc('au submit alone.csv --cycle other --pay-again --wait'));
  expect(tokens.toSorted()).toEqual(column(desk, 'alone.results.csv', 'token').toSorted());
  expect(sent(desk).slice(0, 9)).toEqual([...ROWS.slice(0, 6), ROWS[7], ROWS[8], ROWS[6]]);
});

it('R79: a file of a cycle with the same rows joins the job that has them, and its results are those of that job', async () => {
  const desk = await submittedDesk();
  writeRows(desk, 'same.csv', ...ROWS.slice(0, 6).toReversed());
  ended(
    await desk.svc(`au submit same.csv ${CYCLE} --wait`),
    0,
    'all 6 rows of same.csv are in cycle 2026-12 already',
    { row: { status: 'completed', results: { compared: true } } },
  );
  rowOf(await desk.svc(`au submit tokens.csv ${CYCLE} --wait`));
  expect(column(desk, 'same.results.csv', 'token')).toEqual(column(desk, 'tokens.results.csv', 'token').toReversed());
  expect(desk.uploads()).toBe(1);
  // The second file takes the results that this machine has.
  const reads = desk.sandbox.ledger().filter(({ path }) => path.startsWith('/store/results/'));
  expect(reads).toHaveLength(1);
});

it('R79: a file of a cycle may have a token for another merchant, which is another row', async () => {
  const desk = await submittedDesk();
  writeRows(desk, 'other.csv', ...ROWS.slice(0, 2).map((row) => `${row}merchant-2`));
  rowOf(await desk.svc(`au submit other.csv ${CYCLE}`));
  expect(desk.uploads()).toBe(2);
});

it('R79: a file of a cycle may have rows with another expiration, or a UUID in capitals: they are the same rows', async () => {
  const desk = await submittedDesk();
  const [first = '', second = ''] = ROWS;
  writeRows(
    desk,
    'more.csv',
    first.replace(tokenOf(first), tokenOf(first).toUpperCase()),
    second.replace(/,\d\d,\d\d,/, ',39,12,'),
    ROWS[6] ?? '',
    (ROWS[6] ?? '').replace(/^[^,]+/, (token) => token.toUpperCase()),
  );
  rowOf(await desk.svc(`au submit more.csv ${CYCLE}`));
  expect(sent(desk)).toEqual(ROWS.slice(0, 7));
});

it('R79: a file of a cycle whose rows are in any of several jobs sends the rest once', async () => {
  const desk = await submittedDesk();
  for (const [from, to] of [
    [4, 9],
    [7, 12],
    [0, 12],
    [2, 14],
  ]) {
    writeRows(desk, `from${from}.csv`, ...ROWS.slice(from, to));
    rowOf(await desk.svc(`au submit from${from}.csv ${CYCLE}`));
  }
  expect(sent(desk)).toEqual(ROWS.slice(0, 14));
  const waited = rowOf(await desk.svc(`au submit from2.csv ${CYCLE} --wait`));
  expect(waited).toMatchObject({ status: 'completed', results: { compared: true } });
});

it('R79: a file of a cycle is compared in a dry run too, which shows what would be sent', async () => {
  const desk = await submittedDesk();
  writeRows(desk, 'more.csv', ...ROWS.slice(4, 9));
  ended(
    await desk.svc(`au submit more.csv ${CYCLE} --dry-run`),
    0,
    /2 of 5 rows of more\.csv are in cycle \S+ already: .* \(not read in a dry run\)/,
  );
  expect({ uploads: desk.uploads(), jobs: desk.jobs().length }).toEqual({ uploads: 1, jobs: 1 });
});

it('R79: a file of a cycle that is submitted again goes on with its jobs without sending anything more', async () => {
  const desk = await submittedDesk();
  writeRows(desk, 'more.csv', ...ROWS.slice(4, 9));
  const { jobs } = rowOf(await desk.svc(`au submit more.csv ${CYCLE}`));
  for (const options of ['', '--wait', '--wait']) {
    const { jobs: again } = rowOf(await desk.svc(`au submit more.csv ${CYCLE} ${options}`.trim()));
    expect(new Set(again as string[])).toEqual(new Set(jobs as string[]));
  }
  expect(desk.uploads()).toBe(2);
});

it('R79 and R75: a file of a cycle that was not sent blocks nothing, and each row is sent once afterwards', async () => {
  const desk = await openQuickDesk();
  writeRows(desk, 'tokens.csv', ...ROWS.slice(0, 6));
  ended(await desk.svc(`au submit tokens.csv ${CYCLE}`, { SVC_PRIVATE_API_KEY: 'sandbox-private-key-read-only' }), 4);
  writeRows(desk, 'more.csv', ...ROWS.slice(0, 3));
  rowOf(await desk.svc(`au submit more.csv ${CYCLE}`));
  rowOf(await desk.svc(`au submit tokens.csv ${CYCLE}`));
  succeeded(await desk.svc('au resume'));
  expect(sent(desk).toSorted()).toEqual(ROWS.slice(0, 6).toSorted());
});

it('R79: a file of a cycle of another tenant has other rows, and the tenants do not notice each other', async () => {
  const machine = await openMachine();
  const theirs = { SVC_BASE_URL: (await machine.tenant(7)).url };
  writeFileSync(machine.path('work/more.csv'), [HEADER, ...ROWS.slice(4, 9), ''].join('\n'));
  succeeded(await machine.svc(`au submit tokens.csv ${CYCLE}`));
  ended(await machine.svc(`au submit more.csv ${CYCLE}`, theirs), 0, { uploads: 2, unsaid: 'already' });
  ended(await machine.svc(`au submit more.csv ${CYCLE}`), 0, { uploads: 2 });
});

it('R79: rows of a job that failed are not sent by the first command that learns of it, and by the next one once', async () => {
  const desk = await submittedDesk();
  desk.service.failed = [desk.job];
  writeRows(desk, 'more.csv', ...ROWS.slice(4, 9));
  ended(await desk.svc(`au submit more.csv ${CYCLE}`), 10, desk.job, { uploads: 1 });
  rowOf(await desk.svc(`au submit more.csv ${CYCLE}`));
  expect(sent(desk)).toEqual([...ROWS.slice(0, 6), ...ROWS.slice(4, 9)]);
  // The first file sends what the other one does not have.
  await desk.svc('au resume');
  rowOf(await desk.svc(`au submit tokens.csv ${CYCLE} --wait`));
  expect(sent(desk).slice(11)).toEqual(ROWS.slice(0, 4));
});

it.each(['au resume', 'au resume 2026-12', 'au submit'])(
  'R79: rows of a job of another file that failed are sent once the operator has seen that, whatever command is the first: %s',
  async (first) => {
    const desk = await submittedDesk();
    desk.service.say = unfinished;
    writeRows(desk, 'more.csv', ...ROWS.slice(4, 9));
    const submitting = `au submit more.csv ${CYCLE}`;
    rowOf(await desk.svc(submitting));
    desk.service.clear();
    desk.service.failed = [desk.job];
    ended(await desk.svc(first === 'au submit' ? submitting : first), 10, { uploads: 2 });
    // Only the operator decides that rows are sent in another job.
    await desk.svc('au resume 2026-12');
    expect(desk.uploads()).toBe(2);
    rowOf(await desk.svc(submitting));
    expect([desk.uploads(), sent(desk).slice(9)]).toEqual([3, ROWS.slice(4, 6)]);
  },
);

it('R85: tokens that results of a cycle made are not sent in it, and count as up to date', async () => {
  const desk = await submittedDesk(`${CYCLE} --wait`, ROWS);
  const made = column(desk, 'tokens.results.csv', 'new_token').filter(Boolean);
  expect(made.length).toBeGreaterThan(1);
  const rows = made.map((token) => `${token},27,01,`);
  writeRows(desk, 'new.csv', ...rows);
  ended(
    await desk.svc(`au submit new.csv ${CYCLE} --wait`),
    0,
    'have tokens that results of cycle 2026-12 made: up to date, and not sent',
    { row: { status: 'nothing_new', rows: made.length, left_out: made.length, jobs: [] } },
  );
  expect({ uploads: desk.uploads(), jobs: desk.jobs().length }).toEqual({ uploads: 1, jobs: 1 });
  writeRows(desk, 'mixed.csv', ...rows, 'one-more,27,01,');
  rowOf(await desk.svc(`au submit mixed.csv ${CYCLE}`));
  expect(sent(desk).slice(ROWS.length)).toEqual(['one-more,27,01,']);
  // In the next cycle they are rows like others.
  await desk.clock.advance(28 * DAY);
  rowOf(await desk.svc('au submit new.csv --cycle 2027-01'));
  expect(sent(desk).slice(ROWS.length + 1)).toEqual(rows);
});

describe('tokens that results of a cycle made which nobody delivered', () => {
  it('R85: tokens that results of a cycle made which nobody delivered are not sent in it', async () => {
    const desk = await submittedDesk(CYCLE, ROWS);
    await desk.clock.advance(MINUTE);
    const rows = await rowsMadeUnseen(desk);
    writeRows(desk, 'new.csv', ...rows, 'one-more,27,01,');
    ended(await desk.svc(`au submit new.csv ${CYCLE}`), 0, `reading the results of job ${desk.job}`, {
      row: { sent: 1, left_out: rows.length, left_out_errors: 0 },
    });
    expect(sent(desk).slice(ROWS.length)).toEqual(['one-more,27,01,']);
    // Results are read once, and not where nothing can be sent.
    writeRows(desk, 'again.csv', ...rows, 'another,27,01,');
    for (const line of [`au submit again.csv ${CYCLE}`, `au submit new.csv ${CYCLE}`])
      expect((await desk.svc(line)).stderr).not.toContain(`reading the results of job ${desk.job}`);
    expect(sent(desk).slice(ROWS.length)).toEqual(['one-more,27,01,', 'another,27,01,']);
  });

  it('R85: tokens that results of a cycle made which nobody delivered are not sent by a submission that could create no job before', async () => {
    const desk = await submittedDesk(CYCLE, ROWS);
    const rows = await rowsMadeUnseen(desk);
    // Its job is not finished when the other file is submitted, and no job can be created for that one.
    desk.service.say = unfinished;
    desk.service.refuse = (method) => (method === 'POST' ? 500 : undefined);
    writeRows(desk, 'new.csv', ...rows, 'one-more,27,01,');
    expect((await desk.svc(`au submit new.csv ${CYCLE}`)).code).not.toBe(0);
    desk.service.clear();
    rowOf(await desk.svc(`au submit new.csv ${CYCLE}`));
    expect(sent(desk).slice(ROWS.length)).toEqual(['one-more,27,01,']);
  });

  it('R85: tokens that results of a cycle made which nobody delivered are not sent for a job that was created before', async () => {
    const desk = await submittedDesk(CYCLE, ROWS);
    const rows = await rowsMadeUnseen(desk);
    // The other file is compared while the job is unfinished, and its command ends after it created a job.
    desk.service.say = unfinished;
    let hasCreated = false;
    desk.service.refuse = (method, url) => {
      const isRefused = hasCreated && isJobList(method, url);
      hasCreated ||= method === 'POST';
      return isRefused ? 500 : undefined;
    };
    writeRows(desk, 'new.csv', ...rows, 'one-more,27,01,');
    expect((await desk.svc(`au submit new.csv ${CYCLE}`)).code).not.toBe(0);
    desk.service.clear();
    rowOf(await desk.svc(`au submit new.csv ${CYCLE}`));
    expect(sent(desk).slice(ROWS.length)).toEqual(['one-more,27,01,']);
  });

  it.each(UNREADABLE)(
    'R85: tokens that results of a cycle made which nobody delivered are not sent while these cannot be read: %s',
    async (_, fault) => {
      const desk = await submittedDesk(CYCLE, ROWS);
      const rows = await rowsMadeUnseen(desk);
      Object.assign(desk.service, fault);
      writeRows(desk, 'new.csv', ...rows, 'one-more,27,01,');
      ended(await desk.svc(`au submit new.csv ${CYCLE}`), 9, {
        uploads: 1,
        error: {
          message: expect.stringMatching(`^the results of job ${desk.job} could not be read`),
          next: `svc au download ${desk.job}`,
          retryable: true,
        },
      });
      desk.service.clear();
      rowOf(await desk.svc(`au submit new.csv ${CYCLE}`));
      expect(sent(desk).slice(ROWS.length)).toEqual(['one-more,27,01,']);
    },
  );

  it.each(UNREADABLE)(
    'results that a job older than 7 days has no more stop no other file of their cycle, and are named in a warning: %s',
    async (_, fault) => {
      const desk = await submittedDesk();
      await desk.clock.advance(7 * DAY + MINUTE);
      Object.assign(desk.service, fault);
      writeRows(desk, 'more.csv', ...ROWS.slice(6, 9));
      ended(
        await desk.svc(`au submit more.csv ${CYCLE}`),
        0,
        new RegExp(`^warning: the tokens that job ${desk.job} made are not known`, 'm'),
      );
      expect(sent(desk)).toEqual(ROWS.slice(0, 9));
    },
  );
});

it('rows of a job that failed are left out of the cycle by a submission that finds their tokens up to date, but not by its dry run', async () => {
  const desk = await submittedDesk(CYCLE, ROWS);
  writeRows(desk, 'made.csv', ...(await rowsMadeUnseen(desk)));
  desk.service.say = unfinished;
  const { job } = rowOf(await desk.svc(`au submit made.csv ${CYCLE}`));
  desk.service.clear();
  desk.service.failed = [String(job)];
  // The second one reads the results of the other job.
  for (let time = 0; time < 2; time += 1) ended(await desk.svc('au resume'), 10);
  for (const [dryRun, isWanted] of [
    [' --dry-run', true],
    ['', false],
  ] as const) {
    ended(await desk.svc(`au submit made.csv ${CYCLE}${dryRun}`), 0, { row: { status: 'nothing_new' } });
    ended(await desk.svc('au resume'), isWanted ? 10 : 0);
  }
  expect(desk.uploads()).toBe(2);
});

it('R85: results of a job whose tenant the service does not name still enter the tokens that they made', async () => {
  const desk = await submittedDesk(CYCLE, ROWS);
  await desk.clock.advance(MINUTE);
  desk.service.say = (job) => ({ ...job, tenant_id: undefined });
  rowOf(await desk.svc(`au download ${desk.job} --out results.csv`));
  desk.service.clear();
  const made = column(desk, 'results.csv', 'new_token').filter(Boolean);
  writeRows(desk, 'new.csv', ...made.map((token) => `${token},27,01,`));
  expect(rowOf(await desk.svc(`au submit new.csv ${CYCLE}`))).toMatchObject({ status: 'nothing_new' });
});

it.each([3, 4])(
  'R79: rows of a job that seemed to be gone are not sent again by another file: unknown to the service %i times',
  async (misses) => {
    const desk = await submittedDesk();
    // As in a backup of the moment at which the upload began.
    desk.files(desk.job).record('some');
    let left = misses;
    desk.service.refuse = (...request) => (jobReadBy(...request) && (left -= 1) >= 0 ? 404 : undefined);
    await desk.svc('au resume 2026-12');
    expect(desk.uploads()).toBe(1);
    writeRows(desk, 'more.csv', ...ROWS.slice(4, 9));
    rowOf(await desk.svc(`au submit more.csv ${CYCLE} --wait`));
    rowOf(await desk.svc(`au submit tokens.csv ${CYCLE} --wait`));
    expect(sent(desk)).toEqual(ROWS.slice(0, 9));
  },
);

it('a job that svc sent is not ignored, and the command that frees its rows is shown', async () => {
  const desk = await submittedDesk();
  ended(await desk.svc(`au ignore ${desk.job} --yes`), 6, {
    stdout: '',
    error: { next: `svc au status ${desk.job}`, alternatives: [`svc au abandon ${desk.job}`] },
  });
});

describe('a cycle that begins with the rows of another one', () => {
  it('R79: a cycle that begins with the rows of another one that is open ends with 11 until --pay-again, and both commands are shown', async () => {
    const desk = await submittedDesk('--cycle 2026-12');
    const line = 'au submit tokens.csv --cycle 2026-13';
    for (const options of ['', '--dry-run']) {
      const refused = await desk.svc(`${line} ${options}`.trim());
      expect([11, 6], refused.stderr).toContain(refused.code);
      expect(errorIn(refused)).toMatchObject({
        next: 'svc au submit tokens.csv --cycle 2026-12',
        alternatives: ['svc au resume 2026-12 --wait', 'svc au submit tokens.csv --cycle 2026-13 --pay-again'],
      });
    }
    expect(desk.uploads()).toBe(1);
    rowOf(await desk.svc(`${line} --pay-again`));
    expect(desk.uploads()).toBe(2);
    // A cycle is begun once.
    rowOf(await desk.svc(line));
    expect(desk.uploads()).toBe(2);
  });

  it('R79: a cycle that begins with the rows of a file without a cycle names the submission that goes on with them', async () => {
    const desk = await submittedDesk('');
    const named = await desk.svc('au submit tokens.csv --cycle 2026-12');
    expect([11, 6], named.stderr).toContain(named.code);
    expect(errorIn(named)['next']).toBe('svc au submit tokens.csv');
    rowOf(await desk.svc('au submit tokens.csv'));
    // Another file without a cycle is not the first one, so that its rows would be paid for again.
    writeRows(desk, 'more.csv', ...ROWS.slice(0, 7));
    const own = await desk.svc('au submit more.csv');
    expect([11, 6], own.stderr).toContain(own.code);
    const { next } = errorIn(own);
    expect(next).toMatch(/^svc au submit more\.csv --cycle file-[0-9a-f]{16}$/);
    expect(desk.uploads()).toBe(1);
    rowOf(await desk.svc(String(next).replace('svc ', '')));
    expect(sent(desk)).toEqual(ROWS.slice(0, 7));
  });
});

/** Submits rows as the file of a cycle, and returns what was said. */
async function submit(desk: QuickDesk, cycle: string, rows: readonly string[], more = ''): Promise<string> {
  writeRows(desk, `${cycle}.csv`, ...rows);
  const { stderr } = succeeded(await desk.svc(`au submit ${cycle}.csv --cycle ${cycle} ${more}`.trim()));
  return stderr;
}

const WARNING =
  /warning: only (\S+) of the rows of \S+ were in cycle (\S+), which has the most of them: is the profile/;

it('the first file of a cycle says which profile and tenant it is for, and a second file does not', async () => {
  const desk = await openQuickDesk();
  expect(await submit(desk, '2026-01', ROWS.slice(0, 3))).toMatch(
    /^first upload of cycle 2026-01: profile default, tenant [0-9a-f-]{36}$/m,
  );
  writeRows(desk, 'more.csv', ...ROWS.slice(3, 5));
  expect((await desk.svc('au submit more.csv --cycle 2026-01')).stderr).not.toContain('first upload');
});

it('the first file of a cycle is warned of before anything is sent if hardly a row was in the last one, in a dry run too', async () => {
  const desk = await openQuickDesk();
  expect(await submit(desk, '2026-01', ROWS.slice(0, 20), '--wait')).not.toMatch(WARNING);
  await desk.clock.advance(30 * DAY);
  expect(await submit(desk, '2026-02', ROWS.slice(19, 40), '--dry-run')).toMatch(WARNING);
  expect(desk.uploads()).toBe(1);
  const [, share, cycle] = WARNING.exec(await submit(desk, '2026-02', ROWS.slice(19, 40), '--wait')) ?? [];
  expect([share, cycle]).toEqual(['4.8%', '2026-01']);
  await desk.clock.advance(30 * DAY);
  // A tenth of its rows in any of the cycles is enough.
  expect(await submit(desk, '2026-03', [...ROWS.slice(0, 18), ...ROWS.slice(38, 40)])).not.toMatch(WARNING);
  expect(existsSync(desk.home.file('2026-01.results.csv'))).toBe(true);
});

it('a few rows that a young cycle has too are named before they are billed again', async () => {
  const desk = await openQuickDesk();
  const text = /2 rows of 2026-02\.csv are in cycle 2026-01 too, which began \S+ ago, and are billed again/;
  await submit(desk, '2026-01', ROWS.slice(0, 12), '--wait');
  expect(await submit(desk, '2026-02', ROWS.slice(10, 40), '--dry-run')).toMatch(text);
  expect(await submit(desk, '2026-02', ROWS.slice(10, 40), '--wait')).toMatch(text);
  await desk.clock.advance(30 * DAY);
  expect(await submit(desk, '2026-03', ROWS.slice(0, 12))).not.toContain('billed again');
});
