import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDesk, openQuickDesk, type QuickDesk } from './support.ts';

const OLD = '2020-01-01T00:00:00.000Z';
const DAY = 86_400_000;
const PRUNE = 'au prune --older-than 90d';

/** Makes a run look as if it had ended long ago. */
function age(desk: QuickDesk, run: string): void {
  desk.change(run, (record) => {
    Object.assign(record, { created_at: OLD, ...(record.abandoned_at === undefined ? {} : { abandoned_at: OLD }) });
    for (const part of record.parts) Object.assign(part, part.done_at === undefined ? {} : { done_at: OLD });
  });
}

async function submitted(desk: QuickDesk, line: string): Promise<string> {
  const { code, stdout, stderr } = await desk.svc(line);
  if (code !== 0) throw new Error(stderr);
  return (JSON.parse(stdout) as { run: string }).run;
}

const directoryOf = (desk: QuickDesk, run: string): string => desk.home.file(join('.local/state/svc/runs', run));

function tokensOf(desk: QuickDesk): string[] {
  return readFileSync(desk.home.file('tokens.csv'), 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((row) => row.slice(0, 36));
}

/** Returns the text of all files of a run. */
function contentOf(directory: string): string {
  return readdirSync(directory)
    .map((name) => readFileSync(join(directory, name), 'utf8'))
    .join('\n');
}

describe('svc au prune and cycles of svc au refresh', () => {
  it('svc au prune removes the results in the run of an old cycle, and names the directory of the cycle without removing it', async () => {
    const desk = await openQuickDesk();
    const line = 'au refresh tokens.csv --cycle 2020-01 --fail-on err=60%';
    const run = await submitted(desk, line);
    const results = readFileSync(desk.home.file('refresh/2020-01/results.csv'), 'utf8');
    expect((await desk.svc(`${PRUNE} --yes`)).stderr).not.toContain('rm -r');
    age(desk, run);
    utimesSync(desk.home.file('refresh/2020-01/refresh.json'), new Date(OLD), new Date(OLD));
    const pruned = await desk.svc(`${PRUNE} --yes`);
    expect(pruned.code, pruned.stderr).toBe(0);
    expect(pruned.stderr).toContain('1 cycle in refresh has not been written to for as long');
    expect(pruned.stderr).toContain('  rm -r refresh/2020-01\n');
    expect(existsSync(join(directoryOf(desk, run), 'results.csv'))).toBe(false);
    expect(readFileSync(desk.home.file('refresh/2020-01/results.csv'), 'utf8')).toBe(results);
  });
});

describe('svc au prune', () => {
  it('R58: svc au prune removes the results of an old run, and submitting its file again still does not pay twice', async () => {
    const desk = await openQuickDesk();
    const run = await submitted(desk, 'au submit tokens.csv --wait --out mine.csv');
    age(desk, run);
    const mine = readFileSync(desk.home.file('mine.csv'), 'utf8');
    expect(tokensOf(desk).some((token) => contentOf(directoryOf(desk, run)).includes(token))).toBe(true);

    const shown = await desk.svc(`${PRUNE} --dry-run`);
    expect(JSON.parse(shown.stdout)).toMatchObject({ run, status: 'completed', files: 2, bytes: expect.any(Number) });
    expect(shown.stderr).toContain('dry run: the files of 1 run (');
    const asked = await desk.svc(PRUNE);
    expect(asked.code).toBe(2);
    expect(asked.stderr).toContain('--yes');
    expect(readdirSync(directoryOf(desk, run))).toContain('results-0001.csv');

    expect(await desk.svc(`${PRUNE} --yes`)).toMatchObject({ code: 0 });
    expect(readdirSync(directoryOf(desk, run))).toEqual(['run.json']);
    const kept = contentOf(directoryOf(desk, run));
    expect(tokensOf(desk).filter((token) => kept.includes(token))).toEqual([]);
    expect(readFileSync(desk.home.file('mine.csv'), 'utf8')).toBe(mine);
    expect((await desk.svc('au resume --dry-run')).stdout).toBe('');
    expect((await desk.svc(`${PRUNE} --yes`)).stderr).toContain('no runs to prune');

    const again = await desk.svc('au submit tokens.csv');
    expect(again.code).toBe(6);
    expect(again.stderr).toContain(run);
    expect(desk.uploads()).toBe(1);
    // With another cycle, the operator chooses to have the file billed a second time.
    expect((await desk.svc('au submit tokens.csv --cycle other --pay-again')).code).toBe(0);
    expect(desk.uploads()).toBe(2);
  });

  it('R58: a pruned run of a cycle is still the run of that cycle, and downloads its results once more', async () => {
    const desk = await openQuickDesk();
    const run = await submitted(desk, 'au submit tokens.csv --cycle 2020-01 --wait --out mine.csv');
    const first = readFileSync(desk.home.file('mine.csv'), 'utf8');
    age(desk, run);
    await desk.svc(`${PRUNE} --yes`);
    expect((await desk.svc('au resume')).stderr).toContain('no open runs');
    const again = await desk.svc('au submit tokens.csv --cycle 2020-01 --wait --out other.csv');
    expect(again.code).toBe(0);
    expect(readFileSync(desk.home.file('other.csv'), 'utf8')).toBe(first);
    expect(desk.uploads()).toBe(1);
    expect((await desk.svc('au jobs')).stdout).toContain(run);
  });

  it('svc au prune keeps the copy of a request for 35 days, since files of its cycle are compared with it', async () => {
    const desk = await openQuickDesk();
    const run = await submitted(desk, 'au submit tokens.csv --cycle 2026-12 --wait --out mine.csv');
    const prune = 'au prune --older-than 10d --yes';
    await desk.clock.advance(20 * DAY);
    expect(await desk.svc(prune)).toMatchObject({ code: 0 });
    expect(readdirSync(directoryOf(desk, run)).toSorted()).toEqual(['run-request.csv', 'run.json']);
    await desk.clock.advance(16 * DAY);
    expect(await desk.svc(prune)).toMatchObject({ code: 0 });
    expect(readdirSync(directoryOf(desk, run))).toEqual(['run.json']);
  });

  it('svc au prune leaves alone runs that are open, unknown, not delivered, young, or cannot be read', async () => {
    const desk = await openQuickDesk();
    const [header = ''] = readFileSync(desk.home.file('tokens.csv'), 'utf8').split('\n');
    const file = (name: string): void =>
      writeFileSync(desk.home.file(name), `${header}\n${name}-0123456789abcdef,,,\n`);
    for (const name of ['open.csv', 'unknown.csv', 'unwritten.csv', 'young.csv', 'damaged.csv']) file(name);
    const open = await submitted(desk, 'au submit open.csv');
    const runs = new Map<string, string>();
    for (const name of ['unknown', 'unwritten', 'young', 'damaged'])
      runs.set(name, await submitted(desk, `au submit ${name}.csv --wait`));
    const of = (name: string): string => runs.get(name) ?? '';
    for (const run of [open, of('unknown'), of('unwritten')]) age(desk, run);
    desk.change(of('unknown'), (record) => {
      Object.assign(record, { abandoned_at: OLD });
      Object.assign(record.parts[0] ?? {}, { state: 'unknown' });
    });
    desk.change(of('unwritten'), (record) => Object.assign(record, { results: undefined }));
    writeFileSync(join(directoryOf(desk, of('damaged')), 'run.json'), '{');
    const before = desk.runIds().map((run) => readdirSync(directoryOf(desk, run)));
    const pruned = await desk.svc(`${PRUNE} --yes`);
    expect(pruned).toMatchObject({ code: 3, stdout: '' });
    expect(pruned.stderr).toContain('is damaged');
    expect(pruned.stderr).not.toContain('no runs to prune');
    expect(desk.runIds().map((run) => readdirSync(directoryOf(desk, run)))).toEqual(before);
  });

  it('svc au prune prunes completed and abandoned runs, and touches no file of the operator', async () => {
    const desk = await openQuickDesk();
    mkdirSync(desk.home.file('here'));
    writeFileSync(desk.home.file('here/results.csv'), 'mine');
    const line = 'au submit tokens.csv --wait --out here/results-0001.csv.mine';
    age(desk, await submitted(desk, line));
    const [header = ''] = readFileSync(desk.home.file('tokens.csv'), 'utf8').split('\n');
    writeFileSync(desk.home.file('more.csv'), `${header}\nother,,,\n`);
    const abandoned = await submitted(desk, 'au submit more.csv');
    await desk.svc(`au abandon ${abandoned} --yes`);
    age(desk, abandoned);
    const { code, stdout } = await desk.svc(`${PRUNE} --yes`);
    expect(code).toBe(0);
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((row) => JSON.parse(row) as { run: string; status: string });
    expect(rows.map(({ status }) => status).toSorted()).toEqual(['abandoned', 'completed']);
    expect(readdirSync(desk.home.file('here')).toSorted()).toEqual(['results-0001.csv.mine', 'results.csv']);
    expect((await desk.svc('au submit tokens.csv')).code).toBe(6);
    expect((await desk.svc('au submit more.csv')).stderr).toContain('was abandoned');
  });

  it('svc au prune does not report success where a run could not be pruned', async () => {
    const desk = await openQuickDesk();
    const run = await submitted(desk, 'au submit tokens.csv --wait');
    age(desk, run);
    const directory = directoryOf(desk, run);
    writeFileSync(join(directory, `run.${statSync(directory).ino}.lock`), 'of an unknown process');
    const { code, stderr } = await desk.svc(`${PRUNE} --yes`);
    expect(code).toBe(1);
    expect(stderr).toContain('warning: removed the files of 0 runs; 1 run could not be pruned\n');
    expect(readdirSync(directory)).toContain('results-0001.csv');
  });

  it('svc au prune removes what killed processes left in the spool', async () => {
    const desk = await openDesk();
    const spool = desk.home.file('.local/state/svc/spool');
    mkdirSync(spool, { recursive: true });
    const left = join(spool, '4194304-0123456789ab.csv');
    writeFileSync(left, 'token');
    await desk.svc(`${PRUNE} --yes`);
    expect(existsSync(left)).toBe(false);
  });

  it('svc au prune needs to be told how old, before anything else', async () => {
    const desk = await openQuickDesk();
    const { code, stderr } = await desk.svc('au prune --yes');
    expect(code).toBe(2);
    expect(stderr).toContain('--older-than');
  });
});

describe('svc au jobs', () => {
  it('svc au jobs shows the run beside each job, and finds jobs by status and age', async () => {
    const desk = await openQuickDesk();
    const run = await submitted(desk, 'au submit tokens.csv --wait');
    const created = JSON.parse((await desk.svc('au create')).stdout) as { id: string };
    const rows = async (line: string): Promise<Record<string, unknown>[]> => {
      const { stdout } = await desk.svc(`${line} -o json`);
      return JSON.parse(stdout) as Record<string, unknown>[];
    };
    expect(await rows('au jobs')).toMatchObject([
      { id: created.id, status: 'pending', run: null, part: null },
      { status: 'completed', run, part: 1 },
    ]);
    expect(await rows('au jobs --status completed')).toMatchObject([{ run }]);
    expect(await rows('au jobs --since 1h --status pending')).toMatchObject([{ id: created.id }]);
    expect(await rows('au jobs --since 2099-01-01')).toEqual([]);
    const none = await desk.svc('au jobs --status failed');
    expect(none.stderr).toContain('no jobs match; 2 jobs were read');
  });
});
