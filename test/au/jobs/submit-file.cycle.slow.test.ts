import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Interceptor } from '../../../src/emulator/options.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { errorIn, rowOf, succeeded } from '../../support/run-here.ts';
import { openMachine } from '../commands/machine.ts';
import { openQuickDesk, type QuickDesk, writeRows } from '../commands/support.ts';
import { changeJson } from '../support.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const CYCLE = '--cycle 2026-12';
const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');

/** What the service does differently. */
interface Service {
  /** The jobs that it calls failed. */
  readonly failed: Set<string>;
  /** The jobs that it calls unfinished. */
  readonly unfinished: Set<string>;
  /** Whether it gives completed jobs no address of their results. */
  unreadable: boolean;
  /** Whether its store refuses to give results. */
  refusesResults: boolean;
  /** Whether it leaves the tenant out of each job. */
  hidesTenant: boolean;
  /** Whether it creates no jobs. */
  createsNone: boolean;
  /** How often it says that it does not know a job. */
  misses: number;
  /** Whether it lists no jobs once it has created another one. */
  listsNoneAfterCreation: boolean;
}

/** A desk on which the first rows of the example file are submitted in a cycle. */
interface SubmittedDesk extends QuickDesk {
  readonly job: string;
  readonly service: Service;
}

async function submittedDesk(options = CYCLE, rows = ROWS.slice(0, 6)): Promise<SubmittedDesk> {
  const service: Service = {
    failed: new Set(),
    unfinished: new Set(),
    unreadable: false,
    refusesResults: false,
    hidesTenant: false,
    createsNone: false,
    misses: 0,
    listsNoneAfterCreation: false,
  };
  const desk = await openQuickDesk({ intercept: changedBy(service) });
  writeRows(desk, 'tokens.csv', ...rows);
  const { job } = rowOf(await desk.svc(`au submit tokens.csv ${options}`.trim()));
  return { ...desk, job: String(job), service };
}

/** Changes what the service says of jobs, each by itself and in the list. */
function changedBy(service: Service): Interceptor {
  const saidOf = ({ tenant_id: tenant, ...job }: Readonly<Record<string, unknown>>): Record<string, unknown> => ({
    ...job,
    ...(service.hidesTenant ? {} : { tenant_id: tenant }),
    ...(service.unfinished.has(String(job['id'])) ? { status: 'processing' } : {}),
    ...(service.unreadable ? { download_url: null } : {}),
    ...(service.failed.has(String(job['id'])) ? { status: 'failed', errors: ['made up'] } : {}),
  });
  let hasCreated = false;
  return (incoming, outgoing, proceed) => {
    const { method, url = '' } = incoming;
    if (!service.listsNoneAfterCreation) hasCreated = false;
    const isRefused =
      method === 'POST' ? service.createsNone : hasCreated && /\/account-updater\/jobs(?:\?|$)/.test(url);
    if (isRefused) {
      outgoing.writeHead(500).end();
      return;
    }
    if (method === 'POST' && service.listsNoneAfterCreation) hasCreated = true;
    if (service.refusesResults && url.startsWith('/store/results/')) {
      outgoing.writeHead(403).end();
      return;
    }
    if (method === 'GET' && service.misses > 0 && /\/account-updater\/jobs\/[^/?]+$/.test(url)) {
      service.misses -= 1;
      outgoing.writeHead(404, { 'content-type': 'application/problem+json' }).end('{"title":"not found"}');
      return;
    }
    if (incoming.method === 'GET' && /\/account-updater\/jobs(?:[/?]|$)/.test(incoming.url ?? ''))
      changeJson(outgoing, (answer: Record<string, unknown>) => {
        const { data } = answer;
        return Array.isArray(data) ? { ...answer, data: data.map(saidOf) } : saidOf(answer);
      });
    proceed();
  };
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

const tokenOf = (row: string): string => row.split(',')[0] ?? '';

describe('a file of a cycle', () => {
  it('R79: a file of a cycle whose rows are all new is submitted as it is', async () => {
    const desk = await submittedDesk();
    writeRows(desk, 'west.csv', ...ROWS.slice(6, 9));
    const { code, stderr } = await desk.svc(`au submit west.csv ${CYCLE}`);
    expect({ code, sent: sent(desk) }).toEqual({ code: 0, sent: ROWS.slice(0, 9) });
    expect(stderr).not.toContain('already');
  });

  it('R79: a file of a cycle that shares rows with another one ends with 0: they are left out and said, with their job', async () => {
    const desk = await submittedDesk();
    await desk.clock.advance(240_000);
    writeRows(desk, 'more.csv', ...ROWS.slice(4, 9).toReversed());
    const done = await desk.svc(`au submit more.csv ${CYCLE}`);
    expect(rowOf(done)).toMatchObject({ file: 'more.csv' });
    expect(done.stderr).toMatch(
      new RegExp(
        `^2 of 5 rows of more\\.csv are in cycle 2026-12 already: sent by .*, 4m.* ago, job ${desk.job} `,
        'm',
      ),
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
    const done = await desk.svc(`au submit same.csv ${CYCLE} --wait`);
    expect(rowOf(done)).toMatchObject({ status: 'completed', results: { compared: true } });
    expect(done.stderr).toContain('all 6 rows of same.csv are in cycle 2026-12 already');
    rowOf(await desk.svc(`au submit tokens.csv ${CYCLE} --wait`));
    expect(column(desk, 'same.results.csv', 'token')).toEqual(column(desk, 'tokens.results.csv', 'token').toReversed());
    expect(desk.uploads()).toBe(1);
  });

  it('a file of a cycle takes results of its rows that this machine has, and does not download them again', async () => {
    const desk = await submittedDesk();
    const downloads = (): number =>
      desk.sandbox.ledger().filter(({ method, path }) => method === 'GET' && path.startsWith('/store/results/')).length;
    rowOf(await desk.svc(`au submit tokens.csv ${CYCLE} --wait`));
    expect(downloads()).toBe(1);
    writeRows(desk, 'same.csv', ...ROWS.slice(0, 6).toReversed());
    rowOf(await desk.svc(`au submit same.csv ${CYCLE} --wait`));
    expect(column(desk, 'same.results.csv', 'token')).toEqual(column(desk, 'tokens.results.csv', 'token').toReversed());
    expect(downloads()).toBe(1);
  });

  it('R79: a file of a cycle that changed since it was submitted sends its new rows only', async () => {
    const desk = await submittedDesk();
    writeRows(desk, 'tokens.csv', ...ROWS.slice(0, 7));
    rowOf(await desk.svc(`au submit tokens.csv ${CYCLE}`));
    expect(sent(desk)).toEqual(ROWS.slice(0, 7));
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
    const planned = succeeded(await desk.svc(`au submit more.csv ${CYCLE} --dry-run`));
    expect(planned.stderr).toMatch(/2 of 5 rows of more\.csv are in cycle \S+ already: .* \(not read in a dry run\)/);
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
    const failed = await desk.svc(`au submit tokens.csv ${CYCLE}`, {
      SVC_PRIVATE_API_KEY: 'sandbox-private-key-read-only',
    });
    expect(failed.code).toBe(4);
    writeRows(desk, 'more.csv', ...ROWS.slice(0, 3));
    rowOf(await desk.svc(`au submit more.csv ${CYCLE}`));
    rowOf(await desk.svc(`au submit tokens.csv ${CYCLE}`));
    expect(await desk.svc('au resume')).toMatchObject({ code: 0 });
    expect(sent(desk).toSorted()).toEqual(ROWS.slice(0, 6).toSorted());
  });

  it('R79: a file of a cycle of another tenant has other rows, and the tenants do not notice each other', async () => {
    const machine = await openMachine();
    const theirs = { SVC_BASE_URL: (await machine.tenant(7)).url };
    writeFileSync(machine.path('work/more.csv'), [HEADER, ...ROWS.slice(4, 9), ''].join('\n'));
    expect(await machine.svc(`au submit tokens.csv ${CYCLE}`)).toMatchObject({ code: 0 });
    const submitted = succeeded(await machine.svc(`au submit more.csv ${CYCLE}`, theirs));
    expect(submitted.stderr).not.toContain('already');
    expect(machine.uploads()).toBe(2);
    succeeded(await machine.svc(`au submit more.csv ${CYCLE}`));
    expect(machine.uploads()).toBe(2);
  });
});

describe('rows of a job that failed', () => {
  it('R79: rows of a job that failed are sent again by the same command, which is shown the failure first', async () => {
    const desk = await submittedDesk();
    desk.service.failed.add(desk.job);
    expect(await desk.svc('au resume')).toMatchObject({ code: 10 });
    expect(desk.uploads()).toBe(1);
    const again = await desk.svc(`au submit tokens.csv ${CYCLE} --wait`);
    expect(rowOf(again)).toMatchObject({ status: 'completed', results: { compared: true } });
    expect(sent(desk)).toEqual([...ROWS.slice(0, 6), ...ROWS.slice(0, 6)]);
  });

  it('R79: rows of a job that failed are not sent by the first command that learns of it, and by the next one once', async () => {
    const desk = await submittedDesk();
    desk.service.failed.add(desk.job);
    writeRows(desk, 'more.csv', ...ROWS.slice(4, 9));
    const told = await desk.svc(`au submit more.csv ${CYCLE}`);
    expect([told.code, desk.uploads()], told.stderr).toEqual([10, 1]);
    expect(told.stderr).toContain(desk.job);
    rowOf(await desk.svc(`au submit more.csv ${CYCLE}`));
    expect(sent(desk)).toEqual([...ROWS.slice(0, 6), ...ROWS.slice(4, 9)]);
    // The first file sends what the other one does not have.
    await desk.svc('au resume');
    rowOf(await desk.svc(`au submit tokens.csv ${CYCLE} --wait`));
    expect(sent(desk).slice(11)).toEqual(ROWS.slice(0, 4));
  });
});

describe('rows of a job of another file that failed', () => {
  it.each(['au resume', 'au resume 2026-12', 'au submit'])(
    'R79: rows of a job of another file that failed are sent once the operator has seen that, whatever command is the first: %s',
    async (first) => {
      const desk = await submittedDesk();
      desk.service.unfinished.add(desk.job);
      writeRows(desk, 'more.csv', ...ROWS.slice(4, 9));
      const submitting = `au submit more.csv ${CYCLE}`;
      rowOf(await desk.svc(submitting));
      desk.service.failed.add(desk.job);
      const told = await desk.svc(first === 'au submit' ? submitting : first);
      expect([told.code, desk.uploads()], told.stderr).toEqual([10, 2]);
      // Only the operator decides that rows are sent in another job.
      await desk.svc('au resume 2026-12');
      expect(desk.uploads()).toBe(2);
      rowOf(await desk.svc(submitting));
      expect([desk.uploads(), sent(desk).slice(9)]).toEqual([3, ROWS.slice(4, 6)]);
    },
  );
});

describe('tokens that results of a cycle made', () => {
  it('R85: tokens that results of a cycle made are not sent in it, and count as up to date', async () => {
    const desk = await submittedDesk(`${CYCLE} --wait`, ROWS);
    const made = column(desk, 'tokens.results.csv', 'new_token').filter(Boolean);
    expect(made.length).toBeGreaterThan(1);
    const rows = made.map((token) => `${token},27,01,`);
    writeRows(desk, 'new.csv', ...rows);
    const nothing = await desk.svc(`au submit new.csv ${CYCLE} --wait`);
    expect(rowOf(nothing)).toMatchObject({ status: 'nothing_new', rows: 0, jobs: [] });
    expect(nothing.stderr).toContain('have tokens that results of cycle 2026-12 made: up to date, and not sent');
    expect({ uploads: desk.uploads(), jobs: desk.jobs().length }).toEqual({ uploads: 1, jobs: 1 });
    writeRows(desk, 'mixed.csv', ...rows, 'one-more,27,01,');
    rowOf(await desk.svc(`au submit mixed.csv ${CYCLE}`));
    expect(sent(desk).slice(ROWS.length)).toEqual(['one-more,27,01,']);
    // In the next cycle they are rows like others.
    await desk.clock.advance(28 * DAY);
    rowOf(await desk.svc('au submit new.csv --cycle 2027-01'));
    expect(sent(desk).slice(ROWS.length + 1)).toEqual(rows);
  });
});

it('the results of some rows of a job leave the job open until somebody receives those of all of its rows', async () => {
  const desk = await submittedDesk();
  writeRows(desk, 'some.csv', ...ROWS.slice(0, 3));
  succeeded(await desk.svc(`au submit some.csv ${CYCLE} --wait --out some.results.csv`));
  expect(rowOf(await desk.svc('au status'))).toMatchObject({ cycle: '2026-12', open_jobs: [desk.job] });
  expect(await desk.svc('au resume 2026-12 --wait')).toMatchObject({ code: 0 });
  expect((await desk.svc('au status')).stdout).toBe('');
});

describe('tokens that results of a cycle made which nobody delivered', () => {
  it('R85: tokens that results of a cycle made which nobody delivered are not sent in it', async () => {
    const desk = await submittedDesk(CYCLE, ROWS);
    await desk.clock.advance(MINUTE);
    const rows = await rowsMadeUnseen(desk);
    writeRows(desk, 'new.csv', ...rows, 'one-more,27,01,');
    const done = await desk.svc(`au submit new.csv ${CYCLE}`);
    expect(rowOf(done)).toMatchObject({ sent: 1, left_out: rows.length, left_out_errors: 0 });
    expect(done.stderr).toContain(`reading the results of job ${desk.job}`);
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
    desk.service.unfinished.add(desk.job);
    desk.service.createsNone = true;
    writeRows(desk, 'new.csv', ...rows, 'one-more,27,01,');
    expect((await desk.svc(`au submit new.csv ${CYCLE}`)).code).not.toBe(0);
    desk.service.createsNone = false;
    desk.service.unfinished.clear();
    rowOf(await desk.svc(`au submit new.csv ${CYCLE}`));
    expect(sent(desk).slice(ROWS.length)).toEqual(['one-more,27,01,']);
  });

  it('R85: tokens that results of a cycle made which nobody delivered are not sent for a job that was created before', async () => {
    const desk = await submittedDesk(CYCLE, ROWS);
    const rows = await rowsMadeUnseen(desk);
    // The other file is compared while the job is unfinished, and its command ends after it created a job.
    desk.service.unfinished.add(desk.job);
    desk.service.listsNoneAfterCreation = true;
    writeRows(desk, 'new.csv', ...rows, 'one-more,27,01,');
    expect((await desk.svc(`au submit new.csv ${CYCLE}`)).code).not.toBe(0);
    desk.service.listsNoneAfterCreation = false;
    desk.service.unfinished.clear();
    rowOf(await desk.svc(`au submit new.csv ${CYCLE}`));
    expect(sent(desk).slice(ROWS.length)).toEqual(['one-more,27,01,']);
  });

  it.each(['unreadable', 'refusesResults'] as const)(
    'R85: tokens that results of a cycle made which nobody delivered are not sent while these cannot be read: %s',
    async (fault) => {
      const desk = await submittedDesk(CYCLE, ROWS);
      const rows = await rowsMadeUnseen(desk);
      desk.service[fault] = true;
      writeRows(desk, 'new.csv', ...rows, 'one-more,27,01,');
      const refused = await desk.svc(`au submit new.csv ${CYCLE}`);
      expect(refused.code, refused.stderr).toBe(9);
      expect(errorIn(refused)).toMatchObject({
        message: expect.stringMatching(`^the results of job ${desk.job} could not be read`),
        next: `svc au download ${desk.job}`,
        retryable: true,
      });
      expect(desk.uploads()).toBe(1);
      desk.service[fault] = false;
      rowOf(await desk.svc(`au submit new.csv ${CYCLE}`));
      expect(sent(desk).slice(ROWS.length)).toEqual(['one-more,27,01,']);
    },
  );

  it.each(['unreadable', 'refusesResults'] as const)(
    'results that a job older than 7 days has no more stop no other file of their cycle, and are named in a warning: %s',
    async (fault) => {
      const desk = await submittedDesk();
      await desk.clock.advance(7 * DAY + MINUTE);
      desk.service[fault] = true;
      writeRows(desk, 'more.csv', ...ROWS.slice(6, 9));
      const done = await desk.svc(`au submit more.csv ${CYCLE}`);
      rowOf(done);
      expect(done.stderr).toMatch(new RegExp(`^warning: the tokens that job ${desk.job} made are not known`, 'm'));
      expect(sent(desk)).toEqual(ROWS.slice(0, 9));
    },
  );
});

describe('results of a job whose tenant the service does not name', () => {
  it('R85: results of a job whose tenant the service does not name still enter the tokens that they made', async () => {
    const desk = await submittedDesk(CYCLE, ROWS);
    await desk.clock.advance(MINUTE);
    desk.service.hidesTenant = true;
    rowOf(await desk.svc(`au download ${desk.job} --out results.csv`));
    desk.service.hidesTenant = false;
    const made = column(desk, 'results.csv', 'new_token').filter(Boolean);
    writeRows(desk, 'new.csv', ...made.map((token) => `${token},27,01,`));
    expect(rowOf(await desk.svc(`au submit new.csv ${CYCLE}`))).toMatchObject({ status: 'nothing_new' });
  });
});

describe('a job that seemed to be gone', () => {
  it.each([3, 4])(
    'R79: rows of a job that seemed to be gone are not sent again by another file: unknown to the service %i times',
    async (misses) => {
      const desk = await submittedDesk();
      // As in a backup of the moment at which the upload began.
      desk.files(desk.job).record('some');
      desk.service.misses = misses;
      await desk.svc('au resume 2026-12');
      expect(desk.uploads()).toBe(1);
      writeRows(desk, 'more.csv', ...ROWS.slice(4, 9));
      rowOf(await desk.svc(`au submit more.csv ${CYCLE} --wait`));
      rowOf(await desk.svc(`au submit tokens.csv ${CYCLE} --wait`));
      expect(sent(desk)).toEqual(ROWS.slice(0, 9));
    },
  );
});

describe('a job that svc sent', () => {
  it('a job that svc sent is not ignored, and the command that frees its rows is shown', async () => {
    const desk = await submittedDesk();
    const ignored = await desk.svc(`au ignore ${desk.job} --yes`);
    expect(ignored).toMatchObject({ code: 6, stdout: '' });
    expect(errorIn(ignored)).toMatchObject({
      next: `svc au status ${desk.job}`,
      alternatives: [`svc au abandon ${desk.job}`],
    });
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

  it('R79: a cycle that begins with the rows of another one that began within 14 days ends with 6 until --pay-again, and later does not', async () => {
    const desk = await submittedDesk('--cycle 2026-12 --wait');
    await desk.clock.advance(13 * DAY);
    const line = 'au submit tokens.csv --cycle 2026-13';
    const refused = await desk.svc(line);
    expect([refused.code, desk.uploads()], refused.stderr).toEqual([6, 1]);
    expect(errorIn(refused)).toMatchObject({ alternatives: [`svc ${line} --pay-again`] });
    await desk.clock.advance(2 * DAY);
    rowOf(await desk.svc(line));
    expect(desk.uploads()).toBe(2);
  });

  it('R79: a cycle that begins with a tenth of the rows of another one or less begins', async () => {
    const desk = await submittedDesk();
    writeRows(desk, 'other.csv', ROWS[0] ?? '', ...ROWS.slice(6, 15));
    rowOf(await desk.svc('au submit other.csv --cycle 2026-13'));
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

describe('the first file of a cycle', () => {
  const WARNING = /warning: only (\S+) of the rows of \S+ were in cycle (\S+), the last of this tenant: is the profile/;

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
    // The file is compared with the last cycle only, and a tenth of its rows is enough.
    expect(await submit(desk, '2026-03', [...ROWS.slice(0, 18), ...ROWS.slice(38, 40)])).not.toMatch(WARNING);
    expect(existsSync(desk.home.file('2026-01.results.csv'))).toBe(true);
  });
});
