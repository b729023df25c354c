import {
  cpSync,
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
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RequestFileCheck } from '../../../src/au/request/request-file.ts';
import { listRuns, openRuns, removeUnborn, RunDirectory } from '../../../src/au/run/run-directory.ts';
import { beginRun as begin, type NewRun } from '../../../src/au/send/begin-run.ts';
import { SvcError } from '../../../src/base/errors.ts';
import { FakeClock } from '../../support/clock.ts';

const NOW = Date.UTC(2026, 0, 5, 12);

let top: string;
let root: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'svc-runs-'));
  root = join(top, 'runs');
  mkdirSync(root);
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

function requestFile(letter = 'a', over: Partial<NewRun> = {}): NewRun {
  const sha256 = letter.repeat(8).padEnd(64, '0');
  const part = { firstRow: 1, rows: 2, start: 50, end: 90, bytes: 90, sha256 };
  const check = { sha256, bytes: 90, rows: 2, headerBytes: 50, parts: [part] } as unknown as RequestFileCheck;
  const copy = requestCopy();
  const named = { profile: 'p', baseUrl: 'https://a', name: 't.csv', path: '/t.csv', tenant: 't-1' };
  return { ...named, check, submitted: check, copy, cycle: undefined, division: undefined, now: NOW, ...over };
}

/** Writes a copy of a request file, which a run takes over, and returns its path. */
function requestCopy(): string {
  const copy = join(mkdtempSync(join(top, 'copy-')), 'request.csv');
  writeFileSync(copy, 'token,expiration_year,expiration_month,merchant_id\n');
  return copy;
}

function beginRun(letter = 'a', over: Partial<NewRun> = {}): RunDirectory {
  return begin(root, requestFile(letter, over));
}

function idsOf(found: { readonly runs: readonly RunDirectory[] }): string[] {
  return found.runs.map(({ record }) => record.id);
}

describe('a run that begins', () => {
  it('R36: a run that begins is on disk with all that a resumption needs', async () => {
    const run = beginRun('b', { cycle: '2026-01' });
    expect(run.record.id).toMatch(/^run-20260105-bbbbbbbb-[0-9a-f]{4}$/);
    expect((await RunDirectory.open(run.path))?.record).toEqual({
      version: 2,
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
    const run = beginRun();
    const before = readFileSync(join(run.path, 'run.json'), 'utf8');
    expect(() => RunDirectory.create(run.path, { ...run.record, id: 'other' }, requestCopy())).toThrow(
      'already contains a run',
    );
    expect(readFileSync(join(run.path, 'run.json'), 'utf8')).toBe(before);
  });

  it('a run that begins is called by its id where it is recorded as usual, and by its directory elsewhere', async () => {
    const here = beginRun();
    expect([here.name, here.submitWords]).toEqual([here.record.id, ['au', 'submit', '/t.csv']]);
    const renamed = join(root, 'run-of-mine');
    renameSync(here.path, renamed);
    expect((await RunDirectory.open(renamed))?.name).toBe(renamed);
    // A word that begins with a hyphen would be an option.
    expect(beginRun('d', { path: '-t.csv' }).submitWords).toEqual(['au', 'submit', './-t.csv']);
    const piped = beginRun('c', { path: undefined, cycle: '2026-01' });
    expect(piped.submitWords).toEqual(['au', 'submit', '-', '--cycle', '2026-01']);
  });
});

describe('directories of runs', () => {
  it('directories of runs are read although one is a link, and files are none', async () => {
    const run = beginRun();
    renameSync(run.path, join(top, 'one'));
    symlinkSync(join(top, 'one'), join(root, 'run-linked'));
    writeFileSync(join(root, 'run-file'), '');
    mkdirSync(join(root, 'other'));
    expect(idsOf(await listRuns(root))).toEqual([run.record.id]);
    expect((await listRuns(root)).unreadable).toEqual([]);
    expect(await listRuns(join(root, 'run-file', 'below'))).toEqual({ runs: [], unreadable: [] });
    await expect(listRuns(join(root, 'run-file'))).rejects.toThrow('could not be read (ENOTDIR)');
  });

  it('R58: directories of runs are one run with their copies, which may not know all that was sent', async () => {
    const run = beginRun();
    cpSync(run.path, join(root, 'run-copy'), { recursive: true });
    cpSync(run.path, join(root, 'backup'), { recursive: true });
    expect((await listRuns(root)).runs.map(({ path }) => path)).toEqual([run.path]);
    renameSync(run.path, join(root, 'mine'));
    const { runs, unreadable } = await listRuns(root);
    expect(runs).toEqual([]);
    expect(unreadable.map(({ error }) => error.message)).toEqual([
      expect.stringContaining(`are both ${run.record.id}`),
    ]);
  });

  it('R58: directories of runs whose record cannot be opened are reported, and a run killed before its first record is none', async () => {
    const run = beginRun();
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
    const [run, killed] = [beginRun(), beginRun('b')];
    renameSync(join(killed.path, 'run.json'), join(killed.path, '.run.json.0123456789abcdef.tmp'));
    renameSync(join(killed.path, 'run-request.csv'), join(killed.path, '.run-request.csv.new'));
    const lost = beginRun('c');
    renameSync(join(lost.path, 'run.json'), join(lost.path, 'results-0001.csv'));
    removeUnborn(root);
    expect(readdirSync(root).toSorted()).toEqual([run.record.id, lost.record.id].toSorted());
    removeUnborn(join(top, 'nowhere'));
  });

  it('R36: directories of runs are held by one process at a time, which reads what was written before', async () => {
    const run = beginRun();
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
