import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RequestFileCheck } from '../../../src/au/request/request-file.ts';
import { listRuns, openRuns, removeUnborn, RunDirectory } from '../../../src/au/run/run-directory.ts';
import { applyToRun } from '../../../src/au/run/run.ts';
import {
  beginRun,
  findOutdated,
  findRuns,
  indexedRuns,
  indexEntriesOf,
  indexRun,
  type NewRun,
} from '../../../src/au/run/run-index.ts';
import { SvcError } from '../../../src/base/errors.ts';
import { FakeClock } from '../../support/clock.ts';

const NOW = Date.UTC(2026, 0, 5, 12);

let top: string;
let root: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'svc-index-'));
  root = join(top, 'runs');
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

function requestFile(letter = 'a', over: Partial<NewRun> = {}): NewRun {
  const sha256 = letter.repeat(8).padEnd(64, '0');
  const part = { firstRow: 1, rows: 2, start: 50, end: 90, bytes: 90, sha256 };
  const check = { sha256, bytes: 90, rows: 2, headerBytes: 50, parts: [part] } as unknown as RequestFileCheck;
  const copy = requestCopy();
  return { profile: 'p', baseUrl: 'https://a', name: 't.csv', path: '/t.csv', check, copy, now: NOW, ...over };
}

/** Writes a copy of a request file, which a run takes over, and returns its path. */
function requestCopy(): string {
  const copy = join(mkdtempSync(join(top, 'copy-')), 'request.csv');
  writeFileSync(copy, 'token,expiration_year,expiration_month,merchant_id\n');
  return copy;
}

const usual = (id: string): string => join(root, id);
const elsewhere = (name: string) => (): string => join(top, name);

function idsOf(found: { readonly runs: readonly RunDirectory[] }): string[] {
  return found.runs.map(({ record }) => record.id);
}

describe('a run that begins', () => {
  it('R36: a run that begins is on disk with all that a resumption needs', async () => {
    const run = beginRun(usual, requestFile('b', { cycle: '2026-01', tenant: 't-1' }));
    expect(run.record.id).toMatch(/^run-20260105-bbbbbbbb-[0-9a-f]{4}$/);
    expect((await RunDirectory.open(run.path))?.record).toEqual({
      version: 1,
      id: run.record.id,
      created_at: '2026-01-05T12:00:00.000Z',
      profile: 'p',
      base_url: 'https://a',
      tenant_id: 't-1',
      cycle: '2026-01',
      input: {
        name: 't.csv',
        path: '/t.csv',
        rows: 2,
        bytes: 90,
        sha256: 'bbbbbbbb'.padEnd(64, '0'),
        header_bytes: 50,
      },
      parts: [
        {
          number: 1,
          first_row: 1,
          rows: 2,
          start: 50,
          end: 90,
          bytes: 90,
          sha256: 'bbbbbbbb'.padEnd(64, '0'),
          state: 'planned',
        },
      ],
    });
  });

  it('R36: a run that begins takes the place of no other', () => {
    const run = beginRun(usual, requestFile());
    const before = readFileSync(join(run.path, 'run.json'), 'utf8');
    expect(() => RunDirectory.create(run.path, { ...run.record, id: 'other' }, requestCopy())).toThrow(
      'already contains a run',
    );
    expect(readFileSync(join(run.path, 'run.json'), 'utf8')).toBe(before);
  });

  it('a run that begins is called by its id where it is recorded as usual, and by its directory elsewhere', async () => {
    const [here, there] = [beginRun(usual, requestFile()), beginRun(elsewhere('mine'), requestFile('b'))];
    expect([here.name, here.submitWords]).toEqual([here.record.id, ['au', 'submit', 't.csv']]);
    const words = ['au', 'submit', 't.csv', '--run-dir', there.path];
    expect([there.name, there.submitWords]).toEqual([there.path, words]);
    const renamed = join(root, 'run-of-mine');
    renameSync(here.path, renamed);
    expect((await RunDirectory.open(renamed))?.name).toBe(renamed);
    const piped = beginRun(usual, requestFile('c', { path: undefined, cycle: '2026-01' }));
    expect(piped.submitWords).toEqual(['au', 'submit', '-', '--cycle', '2026-01']);
  });
});

describe('the runs of a file', () => {
  it('R58: the runs of a file are found among others, wherever they are recorded, the newest first', async () => {
    const [old, other] = [beginRun(usual, requestFile()), beginRun(usual, requestFile('b'))];
    const moved = beginRun(elsewhere('one'), requestFile('a', { now: NOW + 2000, profile: 'q', baseUrl: 'https://b' }));
    const named = beginRun(elsewhere('two'), requestFile('a', { now: NOW + 1000 }));
    for (const run of [old, other, moved, named]) indexRun(root, run);
    expect(idsOf(await findRuns(root, undefined, requestFile()))).toEqual(
      [moved, named, old].map(({ record }) => record.id),
    );
    expect(idsOf(await findRuns(root, undefined, requestFile('b')))).toEqual([other.record.id]);
    expect(idsOf(await findRuns(undefined, undefined, requestFile()))).toEqual([]);
    expect(idsOf(await findRuns(undefined, named.path, requestFile()))).toEqual([named.record.id]);
    expect(await findRuns(root, join(top, 'none yet'), requestFile('c'))).toEqual({ runs: [], unreadable: [] });
    // A run that both the index and --run-dir name counts once.
    expect(idsOf(await findRuns(root, named.path, requestFile()))).toHaveLength(3);
    const otherLength = requestFile();
    expect(idsOf(await findRuns(root, undefined, { check: { ...otherLength.check, bytes: 91 } }))).toEqual([]);
  });

  it('R58: the runs of a file are found through the index from another working directory, and after one was moved', async () => {
    const run = beginRun(() => relative(process.cwd(), join(top, 'one')), requestFile());
    indexRun(root, run);
    const [entry = ''] = indexEntriesOf(root, join(top, 'one'));
    expect(JSON.parse(readFileSync(entry, 'utf8'))).toEqual({
      version: 1,
      run: run.record.id,
      directory: join(top, 'one'),
    });
    expect(indexEntriesOf(root, entry)).toEqual([entry]);
    expect(indexEntriesOf(root, join(top, 'other'))).toEqual([]);
    renameSync(join(top, 'one'), join(top, 'two'));
    const there = await findRuns(root, join(top, 'two'), requestFile());
    expect([idsOf(there), there.unreadable]).toEqual([[run.record.id], []]);
    const gone = await findRuns(root, undefined, requestFile());
    expect([gone.runs, gone.unreadable.map(({ directory }) => directory)]).toEqual([[], [join(top, 'one')]]);
    expect((await findRuns(root, undefined, requestFile('b'))).unreadable).toEqual([]);
  });

  it.each(['old-run', 'run-20260105-bbbbbbbb-0000', 'run-by-hand', 'damaged'])(
    'R58: the runs of a file are found in a directory that was renamed to %s',
    async (name) => {
      const run = beginRun(usual, requestFile());
      renameSync(run.path, join(root, name));
      expect((await findRuns(root, undefined, requestFile())).runs.map(({ path }) => path)).toEqual([join(root, name)]);
      expect(await findRuns(root, undefined, requestFile('b'))).toEqual({ runs: [], unreadable: [] });
      expect(idsOf(await listRuns(root))).toEqual([run.record.id]);
    },
  );

  it('R58: the runs of a file are said to be gone where another run took the directory that the index names', async () => {
    const run = beginRun(elsewhere('kept'), requestFile());
    indexRun(root, run);
    renameSync(run.path, join(top, 'kept-before'));
    const later = beginRun(elsewhere('kept'), requestFile('b'));
    indexRun(root, later);
    const { runs, unreadable } = await findRuns(root, undefined, requestFile());
    expect(runs).toEqual([]);
    expect(unreadable).toMatchObject([{ directory: join(root, 'elsewhere', `${run.record.id}.json`) }]);
    expect(unreadable[0]?.error.message).toContain(`is no longer in ${join(top, 'kept')}, where ${later.record.id} is`);
    expect((await findRuns(root, join(top, 'kept-before'), requestFile())).unreadable).toEqual([]);
    expect(idsOf(await findRuns(root, undefined, requestFile('b')))).toEqual([later.record.id]);
  });

  it('the runs of a file are not indexed where they are recorded as usual', async () => {
    indexRun(root, beginRun(usual, requestFile()));
    expect(existsSync(join(root, 'elsewhere'))).toBe(false);
    expect(await indexedRuns(root, () => true)).toEqual({ runs: [], unreadable: [] });
  });

  it.each(['', '{', '[]', '{"directory":1}'])(
    'R58: the runs of a file may be behind an entry of the index that is damaged: %j',
    async (text) => {
      const run = beginRun(elsewhere('one'), requestFile());
      indexRun(root, run);
      const [entry = ''] = indexEntriesOf(root, run.path);
      writeFileSync(entry, text);
      writeFileSync(join(root, 'elsewhere', 'notes.json'), '{');
      const found = await findRuns(root, undefined, requestFile());
      expect(found.unreadable).toMatchObject([{ directory: entry, run: run.record.id }]);
      expect(found.unreadable[0]?.error.message).toContain('it does not say where its run is recorded');
      // With --run-dir, the run itself is read, so the damaged entry does not matter.
      expect((await findRuns(root, run.path, requestFile())).unreadable).toEqual([]);
    },
  );

  it('R58: the runs of a file may be behind a record that cannot be read, and a name that does not say of which file it is', async () => {
    const [bad, other] = [beginRun(usual, requestFile()), beginRun(usual, requestFile('b'))];
    writeFileSync(join(bad.path, 'run.json'), '{');
    rmSync(join(other.path, 'run.json'));
    writeFileSync(join(other.path, 'results-0001.csv'), '');
    mkdirSync(join(root, 'run-by-hand'));
    writeFileSync(join(root, 'run-by-hand', 'note'), '');
    const directories = async (letter: string): Promise<string[]> =>
      (await findRuns(root, undefined, requestFile(letter))).unreadable.map(({ directory }) => directory);
    expect((await directories('a')).toSorted()).toEqual([bad.path, join(root, 'run-by-hand')].toSorted());
    expect((await directories('b')).toSorted()).toEqual([other.path, join(root, 'run-by-hand')].toSorted());
  });

  it('the runs of a file are those of what was in this file before, when one is still open', async () => {
    const before = beginRun(usual, requestFile());
    expect((await findOutdated(root, requestFile('b')))?.record.id).toBe(before.record.id);
    expect(await findOutdated(root, requestFile())).toBeUndefined();
    for (const over of [{ path: undefined }, { path: '/u.csv' }, { profile: 'q' }, { baseUrl: 'https://b' }])
      expect([over, await findOutdated(root, requestFile('b', over))]).toEqual([over, undefined]);
    applyToRun(before.record, { kind: 'abandoned', at: NOW });
    before.save();
    expect(await findOutdated(root, requestFile('b'))).toBeUndefined();
  });
});

describe('directories of runs', () => {
  it('directories of runs are read although one is a link, and files are none', async () => {
    const run = beginRun(elsewhere('one'), requestFile());
    mkdirSync(root);
    symlinkSync(run.path, join(root, 'run-linked'));
    writeFileSync(join(root, 'run-file'), '');
    mkdirSync(join(root, 'other'));
    expect(idsOf(await listRuns(root))).toEqual([run.record.id]);
    expect((await listRuns(root)).unreadable).toEqual([]);
    expect(await listRuns(join(root, 'run-file', 'below'))).toEqual({ runs: [], unreadable: [] });
    await expect(listRuns(join(root, 'run-file'))).rejects.toThrow('could not be read (ENOTDIR)');
  });

  it('R58: directories of runs are one run with their copies, which may not know all that was sent', async () => {
    const run = beginRun(usual, requestFile());
    cpSync(run.path, join(root, 'run-copy'), { recursive: true });
    cpSync(run.path, join(root, 'backup'), { recursive: true });
    expect((await listRuns(root)).runs.map(({ path }) => path)).toEqual([run.path]);
    renameSync(run.path, join(root, 'mine'));
    const { runs, unreadable } = await findRuns(root, undefined, requestFile());
    expect(runs).toEqual([]);
    expect(unreadable.map(({ error }) => error.message)).toEqual([
      expect.stringContaining(`are both ${run.record.id}`),
    ]);
    expect(await findRuns(root, undefined, requestFile('b'))).toEqual({ runs: [], unreadable: [] });
  });

  it('R58: directories of runs whose record cannot be opened are reported, and a run killed before its first record is none', async () => {
    const run = beginRun(usual, requestFile());
    rmSync(join(run.path, 'run.json'));
    expect(await openRuns([run.path])).toMatchObject({ runs: [], unreadable: [{ directory: run.path }] });
    renameSync(join(run.path, 'run-request.csv'), join(run.path, '.run-request.csv.new'));
    expect(await openRuns([run.path, join(top, 'nowhere')])).toMatchObject({
      runs: [],
      unreadable: [{ directory: join(top, 'nowhere') }],
    });
    mkdirSync(join(run.path, 'run.json'));
    const { unreadable } = await openRuns([run.path]);
    expect(unreadable).toMatchObject([{ directory: run.path, error: { code: 'config' } }]);
    expect(unreadable[0]?.error).toBeInstanceOf(SvcError);
  });

  it('directories of runs are removed when a run was killed before its first record, and never otherwise', () => {
    const [run, killed] = [beginRun(usual, requestFile()), beginRun(usual, requestFile('b'))];
    renameSync(join(killed.path, 'run.json'), join(killed.path, '.run.json.0123456789abcdef.tmp'));
    renameSync(join(killed.path, 'run-request.csv'), join(killed.path, '.run-request.csv.new'));
    const lost = beginRun(usual, requestFile('c'));
    renameSync(join(lost.path, 'run.json'), join(lost.path, 'results-0001.csv'));
    removeUnborn(root);
    expect(readdirSync(root).toSorted()).toEqual([run.record.id, lost.record.id].toSorted());
    removeUnborn(join(top, 'nowhere'));
  });

  it('R36: directories of runs are held by one process at a time, which reads what was written before', async () => {
    const run = beginRun(usual, requestFile());
    const other = (await RunDirectory.open(run.path))!;
    const clock = new FakeClock();
    const host = { pid: process.pid, isAlive: () => true, clock, signal: new AbortController().signal };
    writeFileSync(join(run.path, '.run.json.0123456789abcdef.tmp'), '');
    await run.hold(host, async () => {
      expect(readdirSync(run.path)).not.toContain('.run.json.0123456789abcdef.tmp');
      Object.assign(run.record, { cycle: 'changed' });
      run.save();
      const error: unknown = await other.hold(host, async () => undefined).catch((failure: unknown) => failure);
      expect(error).toMatchObject({ code: 'config', message: expect.stringContaining(`run ${run.record.id}`) });
      expect(other.record.cycle).toBeUndefined();
    });
    expect(await other.hold(host, async () => other.record.cycle)).toBe('changed');
  });
});
