import { spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunRecord } from '../../../src/au/run/record.ts';
import type { RecordOnDisk } from '../recorded-run.ts';
import type { RunningSandbox } from '../../../src/emulator/options.ts';
import { startSandbox } from '../../../src/emulator/server.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { FakeClock } from '../../support/clock.ts';
import { CAN_OBEY_MODES, finished, type Finished, Home, LAUNCHER } from '../../support/svc.ts';
import { openDesk } from '../commands/support.ts';
import { uploadsTaken } from '../support.ts';

const directory = mkdtempSync(join(tmpdir(), 'svc-au-runs-'));
let sandbox: RunningSandbox;
let home: Home;
let before = 0;

beforeAll(async () => {
  sandbox = await startSandbox({ directory, processingMs: 0, logCount: 0 });
});
afterAll(async () => {
  await sandbox.close();
  rmSync(directory, { recursive: true, force: true });
});
beforeEach(() => {
  home = new Home();
  before = uploadsTaken(directory).length;
  writeFileSync(home.file('tokens.csv'), exampleRequestFile());
});
afterEach(() => home.remove());

function uploads(): number {
  return uploadsTaken(directory).length - before;
}

const ENV = (): Record<string, string> => ({
  SVC_BASE_URL: sandbox.url,
  SVC_PRIVATE_API_KEY: 'sandbox-private-key',
  SVC_PACING: 'off',
});

function svc(line: string, input?: string): Promise<Finished> {
  return home.svc(line.split(' '), { env: ENV(), ...(input === undefined ? {} : { input }) });
}

const RUNS = '.local/state/svc/runs';

function runIds(): string[] {
  return readdirSync(home.file(RUNS)).filter((name) => name.startsWith('run-'));
}

function recordIn(place: string): RunRecord {
  return JSON.parse(readFileSync(home.file(join(place, 'run.json')), 'utf8')) as RunRecord;
}

function change(place: string, edit: (record: RecordOnDisk) => void): void {
  const record = JSON.parse(readFileSync(home.file(join(place, 'run.json')), 'utf8')) as RecordOnDisk;
  edit(record);
  writeFileSync(home.file(join(place, 'run.json')), JSON.stringify(record));
}

describe('the same file again', () => {
  it('R36: resumes its run, and a completed one sends nothing more', async () => {
    expect(await svc('au submit tokens.csv')).toMatchObject({ code: 0 });
    expect(await svc('au submit tokens.csv --wait')).toMatchObject({ code: 0 });
    const results = readFileSync(home.file('tokens.results.csv'), 'utf8');
    const third = await svc('au submit tokens.csv --wait');
    expect(JSON.parse(third.stdout)).toMatchObject({ status: 'already_submitted' });
    expect(third.stderr).toMatch(/already submitted \d+s ago \(run-\S+, completed\); nothing was sent\n/);
    expect(third).toMatchObject({ code: 0 });
    expect(uploads()).toBe(1);
    expect(readFileSync(home.file('tokens.results.csv'), 'utf8')).toBe(results);
    expect(third.stderr.split('\n').filter((line) => line.includes(', completed)'))).toHaveLength(1);
  });

  it('submitting the same file again names the cycle of a file that was submitted before', async () => {
    await svc('au submit tokens.csv --wait --cycle 2026-12');
    const again = await svc('au submit tokens.csv --wait --cycle 2026-12');
    expect(again.code).toBe(0);
    expect(again.stderr).toMatch(/ago in cycle 2026-12 \(run-\S+, completed\); nothing was sent\n/);
  });

  it('submitting the same file again begins another run with --again alone', async () => {
    await svc('au submit tokens.csv');
    await svc('au submit tokens.csv --again');
    expect(runIds()).toHaveLength(2);
    expect(uploads()).toBe(2);
  });

  it('submitting the same file again shows people its job once, and programs the job and the list', async () => {
    const shown = await svc('au submit tokens.csv -o table');
    expect(shown.stdout).toMatch(/^job +[0-9a-f-]{36}$/m);
    expect(shown.stdout).not.toMatch(/^jobs/m);
    const { job, jobs } = JSON.parse((await svc('au submit tokens.csv')).stdout) as { job: string; jobs: string[] };
    expect(jobs).toEqual([job]);
  });

  it('R36: submitting the same file again is one run when two terminals begin it at once', async () => {
    const both = await Promise.all([svc('au submit tokens.csv'), svc('au submit tokens.csv')]);
    expect(both.every(({ code }) => code === 0 || code === 11)).toBe(true);
    expect(both.some(({ code }) => code === 0)).toBe(true);
    expect(runIds()).toHaveLength(1);
    expect(uploads()).toBe(1);
  });

  it('submitting the same file again writes results again that were deleted, from what it keeps or from the service', async () => {
    await svc('au submit tokens.csv --wait');
    const results = readFileSync(home.file('tokens.results.csv'), 'utf8');
    rmSync(home.file('tokens.results.csv'));
    rmSync(home.file(join(RUNS, runIds()[0] ?? '', 'results-0001.csv')));
    expect(await svc('au submit tokens.csv --wait')).toMatchObject({ code: 0 });
    expect(readFileSync(home.file('tokens.results.csv'), 'utf8')).toBe(results);
    expect(uploads()).toBe(1);
  });

  it('R44: submitting the same file again leaves a file alone that is not its own result', async () => {
    writeFileSync(home.file('tokens.results.csv'), 'mine');
    expect(await svc('au submit tokens.csv --wait')).toMatchObject({ code: 2 });
    expect(uploads()).toBe(0);
    expect(await svc('au submit tokens.csv --wait --force')).toMatchObject({ code: 0 });
  });

  it('submitting the same file again continues with what came through a pipe when it is piped again', async () => {
    const input = exampleRequestFile();
    expect(await svc('au submit -', input)).toMatchObject({ code: 0 });
    const again = await svc('au submit - --wait', input);
    expect(again).toMatchObject({ code: 0 });
    expect(uploads()).toBe(1);
  });

  it('submitting the same file again writes results for a device or a pipe, and keeps them with the run', async () => {
    expect(await svc('au submit tokens.csv --wait --out /dev/null')).toMatchObject({ code: 0 });
    expect(existsSync(home.file(join(RUNS, runIds()[0] ?? '', 'results.csv')))).toBe(true);
  });
});

describe('a file that changed', () => {
  it('a file that changed is a run of its own, and the open run before it is named', async () => {
    await svc('au submit tokens.csv');
    const [first = ''] = runIds();
    writeFileSync(home.file('tokens.csv'), `${exampleRequestFile()}one-more,,,\n`);
    const second = await svc('au submit tokens.csv');
    expect(second).toMatchObject({ code: 0 });
    expect(second.stderr).toContain(`has changed since run ${first} was started`);
    expect(runIds()).toHaveLength(2);
  });

  it('a file that changed is refused in a --run-dir of another file', async () => {
    await svc('au submit tokens.csv --run-dir kept');
    writeFileSync(home.file('tokens.csv'), `${exampleRequestFile()}one-more,,,\n`);
    const { code, stderr } = await svc('au submit tokens.csv --run-dir kept');
    expect({ code, uploads: uploads() }).toEqual({ code: 12, uploads: 1 });
    expect(stderr).toContain('of another file');
  });
});

describe('a run directory', () => {
  it('a run directory can be carried elsewhere and gone on with there, the lock of a killed process in it', async () => {
    await svc('au submit tokens.csv --run-dir here/run');
    writeFileSync(
      home.file('here/run/run.12345.lock'),
      JSON.stringify({ pid: 1, token: 'a', place: 'elsewhere', since: 'then' }),
    );
    cpSync(home.file('here/run'), home.file('there'), { recursive: true });
    rmSync(home.file('here'), { recursive: true });
    const { code, stdout } = await svc('au submit tokens.csv --wait --run-dir there');
    expect({ code, uploads: uploads() }).toEqual({ code: 0, uploads: 1 });
    expect(JSON.parse(stdout)).toMatchObject({ status: 'completed' });
  });

  it('a run directory is named in the command that continues, where its id is not enough', async () => {
    const { stderr } = await svc('au submit tokens.csv --run-dir kept');
    expect(stderr).toContain('  svc au wait kept\n');
    expect(await svc('au wait kept')).toMatchObject({ code: 0 });
    expect(existsSync(home.file('tokens.results.csv'))).toBe(true);
  });

  it('a run directory that is damaged is left as it is, and named', async () => {
    await svc('au submit tokens.csv');
    const [id = ''] = runIds();
    writeFileSync(home.file(join(RUNS, id, 'run.json')), '{"version":1');
    for (const line of [`au status ${id}`, 'au submit tokens.csv']) {
      const { code, stderr } = await svc(line);
      expect(code).toBe(3);
      expect(stderr).toContain('is damaged');
    }
    expect(readFileSync(home.file(join(RUNS, id, 'run.json')), 'utf8')).toBe('{"version":1');
  });

  it.each(['au runs', 'au sync'])(
    'a run directory that is damaged is never none: %s ends with 3 and does not say so',
    async (line) => {
      await svc('au submit tokens.csv');
      const [id = ''] = runIds();
      writeFileSync(home.file(join(RUNS, id, 'run.json')), '{"version":1');
      const { code, stderr } = await svc(line);
      expect(code).toBe(3);
      expect(stderr).toContain('is damaged');
      expect(stderr).not.toMatch(/no (open )?runs/);
    },
  );

  it('a run directory of a newer version asks for a newer svc', async () => {
    await svc('au submit tokens.csv --run-dir kept');
    change('kept', (record) => Object.assign(record, { version: 2 }));
    const { code, stderr } = await svc('au submit tokens.csv --run-dir kept');
    expect(code).toBe(3);
    expect(stderr).toContain('newer svc');
  });

  it.skipIf(!CAN_OBEY_MODES)('R44: a run directory that cannot be written is shown, and nothing is begun', async () => {
    await svc('au submit tokens.csv --run-dir kept');
    change('kept', ({ parts }) => {
      for (const part of parts) part.state = 'planned';
    });
    chmodSync(home.file('kept'), 0o500);
    const readOnly = (line: string): Promise<Finished> => home.svc(line.split(' '), { env: ENV(), obeysModes: true });
    const shown = await readOnly('au status kept');
    const others = ['au submit tokens.csv --run-dir kept', 'au wait kept', 'au abandon kept --yes'];
    const refused = await Promise.all(others.map(readOnly));
    chmodSync(home.file('kept'), 0o700);
    expect(shown).toMatchObject({ code: 0 });
    expect(shown.stderr).toContain('is shown, and not recorded: ');
    for (const { code, stderr } of refused) {
      expect(code, stderr).toBe(1);
      expect(stderr).toContain('EACCES');
      expect(stderr).toContain('kept/run.');
    }
    expect(uploads()).toBe(1);
  });

  it.skipIf(!CAN_OBEY_MODES)(
    'R55: a run directory that cannot be made is an error before anything is sent',
    async () => {
      mkdirSync(home.file('closed'), { mode: 0o500 });
      const line = 'au submit tokens.csv --run-dir closed/run'.split(' ');
      const { code, stderr } = await home.svc(line, { env: ENV(), obeysModes: true });
      expect({ code, uploads: uploads() }).toEqual({ code: 1, uploads: 0 });
      expect(stderr).toContain('EACCES');
    },
  );

  it('R55 and R72: a run directory held by another terminal is pending (exit code 11), naming the holder, and can be looked at', async () => {
    const slow = await startSandbox({ directory: join(directory, 'slow'), processingMs: 60_000 });
    const env = { ...ENV(), SVC_BASE_URL: slow.url };
    const first = home.start(['au', 'submit', 'tokens.csv', '--wait'], { env });
    const ended = finished(first);
    while (uploadsTaken(join(directory, 'slow')).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    const second = await home.svc(['au', 'submit', 'tokens.csv', '--wait'], { env });
    expect(second.code).toBe(11);
    expect(second.stderr).toContain(`process ${first.pid}`);
    const shown = await home.svc(['au', 'status', runIds()[0] ?? ''], { env });
    expect(shown).toMatchObject({ code: 0 });
    expect(shown.stderr).toContain(`process ${first.pid}`);
    first.kill('SIGINT');
    const interrupted = await ended;
    expect(interrupted.code).toBe(130);
    expect(interrupted.stderr).toContain(`svc au wait ${runIds()[0]}`);
    await slow.close();
  });

  it('R58: a run directory is not continued with the key of another tenant, and nothing is created there', async () => {
    await svc('au submit tokens.csv --run-dir kept');
    const job = recordIn('kept').parts[0]?.job;
    const other = await startSandbox({ directory: join(directory, 'other'), seed: 99, processingMs: 0 });
    change('kept', (record) => {
      Object.assign(record, { base_url: new URL(other.url).href.replace(/\/$/, '') });
      for (const part of record.parts) Object.assign(part, { state: 'uploading', sent: 'all' });
    });
    const env = { ...ENV(), SVC_BASE_URL: other.url };
    expect(await home.svc(['au', 'create'], { env })).toMatchObject({ code: 0 });
    for (const argv of [
      ['au', 'submit', 'tokens.csv', '--run-dir', 'kept'],
      ['au', 'wait', 'kept'],
    ]) {
      const { code, stderr } = await home.svc(argv, { env });
      expect({ code, taken: uploadsTaken(join(directory, 'other')) }).toEqual({ code: 3, taken: [] });
      expect(stderr).toContain('belongs to tenant');
      change('kept', ({ parts }) => parts.forEach((part) => Object.assign(part, { state: 'uploaded' })));
    }
    expect(recordIn('kept').parts[0]).toMatchObject({ state: 'uploaded', job });
    expect(other.ledger().filter(({ method }) => method === 'POST')).toHaveLength(1);
    await other.close();
  });
});

/** Runs the tool with a limit of one kilobyte for each file. */
function limited(line: string): Promise<Finished> {
  const child = spawn(
    '/bin/bash',
    ['-c', `ulimit -f 1; exec "$0" "$@"`, process.execPath, LAUNCHER, ...line.split(' ')],
    { cwd: home.path, env: home.environment(ENV()), stdio: ['pipe', 'pipe', 'pipe'] },
  );
  return finished(child);
}

describe('a full disk', () => {
  it('R55: a full disk ends a command before anything is sent, and leaves the record as it was', async () => {
    await svc('au submit tokens.csv --run-dir kept');
    change('kept', (record) => Object.assign(record, { padding: 'x'.repeat(3_000) }));
    const record = readFileSync(home.file('kept/run.json'), 'utf8');
    const { code, stderr } = await limited('au submit tokens.csv --wait --run-dir kept');
    expect({ code, uploads: uploads() }).toEqual({ code: 1, uploads: 1 });
    expect(stderr).toContain('EFBIG');
    expect(readFileSync(home.file('kept/run.json'), 'utf8')).toBe(record);
    expect(await svc('au submit tokens.csv --wait --run-dir kept')).toMatchObject({ code: 0 });
    expect(readdirSync(home.file('kept')).toSorted()).toEqual(['results-0001.csv', 'run-request.csv', 'run.json']);
  });
});

describe('svc au sync', () => {
  it('svc au sync advances every open run, and two rounds at once do not disturb each other', async () => {
    writeFileSync(home.file('more.csv'), `${exampleRequestFile()}one-more,,,\n`);
    await svc('au submit tokens.csv');
    await svc('au submit more.csv');
    const line = 'au sync --exec wc>>told';
    const both = await Promise.all([svc(line), svc(line)]);
    expect(both.some(({ code }) => code === 0 || code === 11)).toBe(true);
    expect(await svc(line)).toMatchObject({ code: 0 });
    expect(readFileSync(home.file('told'), 'utf8').trimEnd().split('\n')).toHaveLength(2);
    expect(existsSync(home.file('tokens.results.csv')) && existsSync(home.file('more.results.csv'))).toBe(true);
    expect(uploads()).toBe(2);
  });

  it('svc au sync gives --exec the run as au runs shows it, with the counts of its results', async () => {
    const { stdout } = await svc('au submit tokens.csv');
    const { run, jobs } = JSON.parse(stdout) as { run: string; jobs: string[] };
    await svc('au sync --exec cat>seen');
    const [shown] = (await svc('au runs')).stdout.trimEnd().split('\n');
    const given = JSON.parse(readFileSync(home.file('seen'), 'utf8')) as object;
    // A list shows a run's age, time left and results file in place of the counts of its results.
    const { age: _age, left: _left, results: _file, ...row } = JSON.parse(shown ?? '') as Record<string, unknown>;
    expect(given).toMatchObject({ ...row, run, jobs, job_count: 1, status: 'completed' });
    expect(given).toMatchObject({ results: { file: expect.any(String), updated: expect.any(Number) } });
  });

  it('svc au sync runs a failing --exec again in the next round, and says that it failed', async () => {
    await svc('au submit tokens.csv');
    const failed = await svc('au sync --exec false');
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain('--exec ended with 1');
    const told = await svc('au sync --exec env');
    expect(told).toMatchObject({ code: 0 });
    expect(told.stderr).toContain(`SVC_RESULTS=${home.file('tokens.results.csv')}`);
    expect(told.stderr).not.toContain('sandbox-private-key');
    expect(told.stdout).not.toContain('SVC_RESULTS');
    expect((await svc('au sync --exec false')).code).toBe(0);
  });

  it('svc au sync is run by au wait and au submit --wait too, once, and again after it failed', async () => {
    await svc('au submit tokens.csv');
    const [run = ''] = runIds();
    const failed = await svc(`au wait ${run} --exec false`);
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.stdout)).toMatchObject({ run, status: 'completed' });
    expect(failed.stderr).toContain(`svc au wait ${run} --exec <command>`);
    expect(existsSync(home.file('tokens.results.csv'))).toBe(true);
    for (const line of [`au wait ${run}`, 'au sync', `au wait ${run}`])
      expect(await svc(`${line} --exec wc>>told`)).toMatchObject({ code: 0 });
    writeFileSync(home.file('more.csv'), `${exampleRequestFile()}one-more,,,\n`);
    expect(await svc('au submit more.csv --wait --exec wc>>told')).toMatchObject({ code: 0 });
    expect(readFileSync(home.file('told'), 'utf8').trimEnd().split('\n')).toHaveLength(2);
  });

  it('svc au sync keeps results with the run where their place is taken, and overwrites nothing', async () => {
    await svc('au submit tokens.csv');
    writeFileSync(home.file('tokens.results.csv'), 'mine');
    const { code, stderr } = await svc('au sync');
    expect({ code, mine: readFileSync(home.file('tokens.results.csv'), 'utf8') }).toEqual({ code: 0, mine: 'mine' });
    expect(stderr).toContain('its results are kept in');
    expect(stderr).toMatch(/svc au download run-\S+ --out <file>/);
    expect(existsSync(home.file(join(RUNS, runIds()[0] ?? '', 'results.csv')))).toBe(true);
  });

  it('svc au sync does not submit again by itself what failed', async () => {
    await svc('au submit tokens.csv');
    change(join(RUNS, runIds()[0] ?? ''), ({ parts }) => {
      for (const part of parts) Object.assign(part, { state: 'failed', errors: ['made up'] });
    });
    expect(await svc('au sync')).toMatchObject({ code: 0 });
    expect(uploads()).toBe(1);
    // The service reports that the job did not fail after all, so the run continues.
    expect(await svc('au submit tokens.csv --wait')).toMatchObject({ code: 0 });
    expect(uploads()).toBe(1);
  });

  it('svc au sync says why a run of an earlier version, which has no copy of its file, cannot go on, and continues with the others', async () => {
    await svc('au submit tokens.csv');
    writeFileSync(home.file('more.csv'), `${exampleRequestFile()}one-more,,,\n`);
    await svc('au submit more.csv');
    const stuck = runIds().find((id) => recordIn(join(RUNS, id)).input.name === 'more.csv') ?? '';
    change(join(RUNS, stuck), ({ parts }) => {
      for (const part of parts) {
        part.state = 'planned';
        delete part.job;
      }
    });
    renameSync(home.file('more.csv'), home.file('moved.csv'));
    rmSync(home.file(join(RUNS, stuck, 'run-request.csv')));
    const { code, stderr } = await svc('au sync');
    expect(code).toBe(1);
    expect(stderr).toContain('more.csv does not exist');
    expect(existsSync(home.file('tokens.results.csv'))).toBe(true);
    // With the file under its new name, the run goes on.
    expect(await svc('au submit moved.csv')).toMatchObject({ code: 0 });
    expect(await svc('au sync')).toMatchObject({ code: 0 });
  });
});

describe('a place for the results, given at the start', () => {
  it('a place for the results, given at the start is where they go when they are brought later', async () => {
    const { svc, home } = await openDesk();
    expect(await svc('au submit tokens.csv --out later.csv')).toMatchObject({ code: 0 });
    expect(await svc('au sync')).toMatchObject({ code: 0 });
    expect(readFileSync(home.file('later.csv'), 'utf8')).toMatch(/^token,/);
  });

  it('a place for the results, given at the start is refused at the start when something is there already', async () => {
    const { svc, uploads } = await openDesk();
    const { code, stderr } = await svc('au submit tokens.csv --out tokens.csv');
    expect(code).not.toBe(0);
    expect(stderr).toContain('tokens.csv');
    expect(uploads()).toBe(0);
  });
});

describe('the end of the time', () => {
  it('R43: exit code 11 and the command that continues, which then does', async () => {
    const clock = new FakeClock({ start: Date.now(), auto: false });
    const slow = await startSandbox({ directory: join(directory, 'later'), clock, processingMs: 3_600_000 });
    const env = { ...ENV(), SVC_BASE_URL: slow.url };
    mkdirSync(home.file('place'));
    await home.svc(['au', 'submit', 'tokens.csv', '--out', 'place/r.csv'], { env });
    const first = await home.svc(['au', 'wait', runIds()[0] ?? '', '--timeout', '3s'], { env });
    expect(first.code, first.stderr).toBe(11);
    const command = /svc (au wait [\w-]+)/.exec(first.stderr)?.[1] ?? '';
    await clock.advance(2 * 3_600_000);
    expect(await home.svc(command.split(' '), { env })).toMatchObject({ code: 0 });
    expect(existsSync(home.file('place/r.csv'))).toBe(true);
    await slow.close();
  });
});
