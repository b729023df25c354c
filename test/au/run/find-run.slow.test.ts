import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { startSandbox } from '../../support/sandbox.ts';
import { CAN_OBEY_MODES, finished, type Finished, type Home, LAUNCHER } from '../../support/svc.ts';
import { openMachine, submittedOnce } from '../commands/machine.ts';
import { type Desk, openDesk } from '../commands/support.ts';
import { uploadsTaken } from '../support.ts';

let desk: Desk;
let home: Home;

beforeEach(async () => {
  desk = await openDesk();
  ({ home } = desk);
});

const RUNS = '.local/state/svc/runs';

/** Returns the directory of the only run. */
function onlyRun(): string {
  return join(RUNS, desk.runIds()[0] ?? '');
}

describe('the same file again', () => {
  it('R36: resumes its run, and a completed one sends nothing more', async () => {
    expect(await desk.svc('au submit tokens.csv')).toMatchObject({ code: 0 });
    expect(await desk.svc('au submit tokens.csv --wait')).toMatchObject({ code: 0 });
    const results = readFileSync(home.file('tokens.results.csv'), 'utf8');
    const third = await desk.svc('au submit tokens.csv --wait');
    expect(JSON.parse(third.stdout)).toMatchObject({ status: 'already_submitted' });
    expect(third.stderr).toMatch(/already submitted \d+s ago \(run-\S+, completed\); nothing was sent\n/);
    expect(third).toMatchObject({ code: 0 });
    expect(desk.uploads()).toBe(1);
    expect(readFileSync(home.file('tokens.results.csv'), 'utf8')).toBe(results);
    expect(third.stderr.split('\n').filter((line) => line.includes(', completed)'))).toHaveLength(1);
  });

  it('submitting the same file again names the cycle of a file that was submitted before', async () => {
    await desk.svc('au submit tokens.csv --wait --cycle 2026-12');
    const again = await desk.svc('au submit tokens.csv --wait --cycle 2026-12');
    expect(again.code).toBe(0);
    expect(again.stderr).toMatch(/ago in cycle 2026-12 \(run-\S+, completed\); nothing was sent\n/);
  });

  it('submitting the same file again shows people its job once, and programs the job and the list', async () => {
    const shown = await desk.svc('au submit tokens.csv -o table');
    expect(shown.stdout).toMatch(/^job +[0-9a-f-]{36}$/m);
    expect(shown.stdout).not.toMatch(/^jobs/m);
    const { job, jobs } = JSON.parse((await desk.svc('au submit tokens.csv')).stdout) as {
      job: string;
      jobs: string[];
    };
    expect(jobs).toEqual([job]);
  });

  it('R36: submitting the same file again is one run when two terminals begin it at once', async () => {
    const both = await Promise.all([desk.svc('au submit tokens.csv'), desk.svc('au submit tokens.csv')]);
    expect(both.every(({ code }) => code === 0 || code === 11)).toBe(true);
    expect(both.some(({ code }) => code === 0)).toBe(true);
    // Two that begin in the same moment may both record a run; the ledger lets one of them send the rows.
    expect(await desk.svc('au submit tokens.csv')).toMatchObject({ code: 0 });
    expect(desk.uploads()).toBe(1);
  });

  it('submitting the same file again writes results again that were deleted, from what it keeps or from the service', async () => {
    await desk.svc('au submit tokens.csv --wait');
    const results = readFileSync(home.file('tokens.results.csv'), 'utf8');
    rmSync(home.file('tokens.results.csv'));
    rmSync(home.file(join(RUNS, desk.runIds()[0] ?? '', 'results-0001.csv')));
    expect(await desk.svc('au submit tokens.csv --wait')).toMatchObject({ code: 0 });
    expect(readFileSync(home.file('tokens.results.csv'), 'utf8')).toBe(results);
    expect(desk.uploads()).toBe(1);
  });

  it('R44: submitting the same file again leaves a file alone that is not its own result', async () => {
    writeFileSync(home.file('tokens.results.csv'), 'mine');
    expect(await desk.svc('au submit tokens.csv --wait')).toMatchObject({ code: 2 });
    expect(desk.uploads()).toBe(0);
    expect(await desk.svc('au submit tokens.csv --wait --force')).toMatchObject({ code: 0 });
  });

  it('submitting the same file again continues with what came through a pipe when it is piped again', async () => {
    const input = exampleRequestFile();
    expect(await desk.svc('au submit -', {}, input)).toMatchObject({ code: 0 });
    const again = await desk.svc('au submit - --wait', {}, input);
    expect(again).toMatchObject({ code: 0 });
    expect(desk.uploads()).toBe(1);
  });

  it('submitting the same file again writes results for a device or a pipe, and keeps them with the run', async () => {
    expect(await desk.svc('au submit tokens.csv --wait --out /dev/null')).toMatchObject({ code: 0 });
    expect(existsSync(home.file(join(RUNS, desk.runIds()[0] ?? '', 'results.csv')))).toBe(true);
  });
});

describe('a file that changed', () => {
  it('a file that changed shares its rows with the open run, so that it is submitted with --pay-again only, and names that run', async () => {
    await desk.svc('au submit tokens.csv');
    const [first = ''] = desk.runIds();
    writeFileSync(home.file('tokens.csv'), `${exampleRequestFile()}00000000-0000-4000-8000-000000000001,,,\n`);
    const refused = await desk.svc('au submit tokens.csv');
    expect([6, 11], refused.stderr).toContain(refused.code);
    expect(desk.uploads()).toBe(1);
    const second = await desk.svc('au submit tokens.csv --pay-again');
    expect(second.code, second.stderr).toBe(0);
    expect(second.stderr).toContain(`has changed since run ${first} was started`);
    expect(desk.runIds()).toHaveLength(2);
  });
});

describe('a run directory', () => {
  it('a run directory that is damaged is left as it is, and named', async () => {
    await desk.svc('au submit tokens.csv');
    const [id = ''] = desk.runIds();
    writeFileSync(home.file(join(RUNS, id, 'run.json')), '{"version":1');
    for (const line of [`au status ${id}`, 'au submit tokens.csv']) {
      const { code, stderr } = await desk.svc(line);
      expect(code).toBe(3);
      expect(stderr).toContain('is damaged');
    }
    expect(readFileSync(home.file(join(RUNS, id, 'run.json')), 'utf8')).toBe('{"version":1');
  });

  it.each(['au resume --dry-run', 'au resume'])(
    'a run directory that is damaged is never none: %s ends with 3 and does not say so',
    async (line) => {
      await desk.svc('au submit tokens.csv');
      const [id = ''] = desk.runIds();
      writeFileSync(home.file(join(RUNS, id, 'run.json')), '{"version":1');
      const { code, stderr } = await desk.svc(line);
      expect(code).toBe(3);
      expect(stderr).toContain('is damaged');
      expect(stderr).not.toMatch(/no (open )?runs/);
    },
  );

  it('a run directory of a newer version asks for a newer svc', async () => {
    await desk.svc('au submit tokens.csv');
    desk.change(onlyRun(), (record) => Object.assign(record, { version: 3 }));
    const { code, stderr } = await desk.svc('au submit tokens.csv');
    expect(code).toBe(3);
    expect(stderr).toContain('newer svc');
  });

  it.skipIf(!CAN_OBEY_MODES)('R44: a run directory that cannot be written is shown, and nothing is begun', async () => {
    await desk.svc('au submit tokens.csv');
    const [run = ''] = desk.runIds();
    chmodSync(home.file(onlyRun()), 0o500);
    const readOnly = (line: string): Promise<Finished> =>
      home.svc(line.split(' '), { env: desk.env, obeysModes: true });
    const shown = await readOnly(`au status ${run}`);
    const others = ['au submit tokens.csv', `au resume ${run} --wait`, `au abandon ${run} --yes`];
    const refused = await Promise.all(others.map(readOnly));
    chmodSync(home.file(onlyRun()), 0o700);
    expect(shown).toMatchObject({ code: 0 });
    expect(shown.stderr).toContain('is shown, and not recorded: ');
    for (const { code, stderr } of refused) {
      expect(code, stderr).toBe(1);
      expect(stderr).toContain('EACCES');
      expect(stderr).toContain(`${run}/run.`);
    }
    expect(desk.uploads()).toBe(1);
  });

  it.skipIf(!CAN_OBEY_MODES)(
    'R55: a run directory that cannot be made is an error before anything is sent',
    async () => {
      mkdirSync(home.file('closed'), { mode: 0o500 });
      const env = { ...desk.env, SVC_STATE_DIR: home.file('closed/state') };
      const { code, stderr } = await home.svc(['au', 'submit', 'tokens.csv'], { env, obeysModes: true });
      expect({ code, uploads: desk.uploads() }).toEqual({ code: 1, uploads: 0 });
      expect(stderr).toContain('EACCES');
    },
  );

  it('R55 and R72: a run directory held by another terminal is pending (exit code 11), naming the holder, and can be looked at', async () => {
    const slow = await startSandbox({ directory: home.file('slow'), processingMs: 60_000 });
    const env = { ...desk.env, SVC_BASE_URL: slow.url };
    const first = home.start(['au', 'submit', 'tokens.csv', '--wait'], { env });
    const ended = finished(first);
    while (uploadsTaken(home.file('slow')).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    const second = await home.svc(['au', 'submit', 'tokens.csv', '--wait'], { env });
    expect(second.code).toBe(11);
    expect(second.stderr).toContain(`process ${first.pid}`);
    const shown = await home.svc(['au', 'status', desk.runIds()[0] ?? ''], { env });
    expect(shown).toMatchObject({ code: 0 });
    expect(shown.stderr).toContain(`process ${first.pid}`);
    first.kill('SIGINT');
    const interrupted = await ended;
    expect(interrupted.code).toBe(130);
    expect(interrupted.stderr).toContain(`svc au resume ${desk.runIds()[0]} --wait`);
    await slow.close();
  });

  it('R58: a run directory is not continued with the key of another tenant, and nothing is created there', async () => {
    await desk.svc('au submit tokens.csv');
    const [run = ''] = desk.runIds();
    const place = onlyRun();
    const job = desk.record(place).parts[0]?.job;
    const other = await startSandbox({ directory: home.file('other'), seed: 99, processingMs: 0 });
    desk.change(place, (record) => {
      Object.assign(record, { base_url: new URL(other.url).href.replace(/\/$/, '') });
      for (const part of record.parts) Object.assign(part, { state: 'uploading', sent: 'all' });
    });
    const env = { ...desk.env, SVC_BASE_URL: other.url };
    expect(await home.svc(['au', 'create'], { env })).toMatchObject({ code: 0 });
    const { code, stderr } = await home.svc(['au', 'resume', run, '--wait'], { env });
    expect(code, stderr).not.toBe(0);
    expect(uploadsTaken(home.file('other'))).toEqual([]);
    expect(desk.record(place).parts[0]).toMatchObject({ job });
    expect(other.ledger().filter(({ method }) => method === 'POST')).toHaveLength(1);
    await other.close();
  });
});

/** Runs the tool with a limit of one kilobyte for each file. */
function limited(line: string): Promise<Finished> {
  const child = spawn(
    '/bin/bash',
    ['-c', `ulimit -f 1; exec "$0" "$@"`, process.execPath, LAUNCHER, ...line.split(' ')],
    { cwd: home.path, env: home.environment(desk.env), stdio: ['pipe', 'pipe', 'pipe'] },
  );
  return finished(child);
}

describe('a full disk', () => {
  it('R55: a full disk ends a command before anything is sent, and leaves the record as it was', async () => {
    await desk.svc('au submit tokens.csv');
    desk.change(onlyRun(), (record) => Object.assign(record, { padding: 'x'.repeat(3_000) }));
    const record = readFileSync(home.file(join(onlyRun(), 'run.json')), 'utf8');
    const { code, stderr } = await limited('au submit tokens.csv --wait');
    expect({ code, uploads: desk.uploads() }).toEqual({ code: 1, uploads: 1 });
    expect(stderr).toContain('EFBIG');
    expect(readFileSync(home.file(join(onlyRun(), 'run.json')), 'utf8')).toBe(record);
    expect(await desk.svc('au submit tokens.csv --wait')).toMatchObject({ code: 0 });
  });
});

const SUBMIT = 'au submit tokens.csv';
const OUT = '--wait --out results.csv --force';

/** Ways in which a record can be damaged, given its path. */
const DAMAGE: Readonly<Record<string, (record: string) => void>> = {
  'is empty': (file) => writeFileSync(file, ''),
  'is null': (file) => writeFileSync(file, 'null'),
  'is cut off': (file) => writeFileSync(file, readFileSync(file, 'utf8').slice(0, 200)),
  'is a directory': (file) => {
    rmSync(file);
    mkdirSync(file);
  },
  'is of a newer version': (file) => writeFileSync(file, '{"version":3}'),
  'is gone, while the results are there': (file) => {
    rmSync(file);
    writeFileSync(join(file, '../results-0001.csv'), 'token\n');
  },
};

describe('a record that cannot be read', () => {
  it.each(Object.keys(DAMAGE))('R58: a record that cannot be read is not taken for no run: it %s', async (how) => {
    const { machine, run } = await submittedOnce();
    const file = machine.path(`state/runs/${run}/run.json`);
    DAMAGE[how]?.(file);
    for (const options of ['', '--cycle 2026-11', '--profile other', '--dry-run']) {
      const refused = await machine.svc(`${SUBMIT} ${options}`.trim());
      expect(refused.code, options).toBe(3);
      expect(refused.stderr).toContain(run);
    }
    expect(await machine.svc('au resume')).toMatchObject({ code: 3 });
    expect(machine.uploads()).toBe(1);
    const abandoned = await machine.svc(`au abandon ${machine.path(`state/runs/${run}`)} --yes`);
    expect(abandoned.code, abandoned.stderr).toBe(0);
    expect(JSON.parse(abandoned.stdout)).toMatchObject({ run, status: 'damaged' });
    expect(abandoned.stderr).toMatch(/completed {2}2026-11-02/);
    expect(existsSync(machine.path(`state/runs/damaged/${run}`))).toBe(true);
    // The rows stay in the ledger, so that their results come from the job that has them.
    const joined = await machine.svc(`${SUBMIT} ${OUT}`);
    expect(joined.code, joined.stderr).toBe(0);
    expect(machine.uploads()).toBe(1);
  });

  it('a record that cannot be read of another file stands in nobody’s way, and neither does what is no run', async () => {
    const { machine, run } = await submittedOnce();
    const runs = machine.path('state/runs');
    writeFileSync(join(runs, run, 'run.json'), '');
    mkdirSync(join(runs, 'backup'));
    writeFileSync(join(runs, 'backup/results.csv'), '');
    writeFileSync(join(runs, 'run-notes.txt'), 'mine');
    mkdirSync(join(runs, 'run-20260101-00000000-0000'));
    writeFileSync(machine.path('work/more.csv'), `${exampleRequestFile().split('\n')[0]}\none-more,,,\n`);
    expect(await machine.svc('au submit more.csv')).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(2);
  });

  it('R58: a record that cannot be read whose name does not say of which file it is keeps every file back', async () => {
    const machine = await openMachine();
    mkdirSync(machine.path('state/runs'), { recursive: true });
    symlinkSync(machine.path('nowhere'), machine.path('state/runs/run-lost'));
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 3 });
    expect(machine.uploads()).toBe(0);
  });

  it('R58: a record that cannot be read in a directory that was renamed keeps every file back until it is abandoned', async () => {
    const { machine, run } = await submittedOnce();
    const renamed = machine.path('state/runs/old-run');
    renameSync(machine.path(`state/runs/${run}`), renamed);
    writeFileSync(join(renamed, 'run.json'), '{');
    const refused = await machine.svc(SUBMIT);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain(`svc au abandon ${renamed}`);
    expect(machine.uploads()).toBe(1);
    expect(await machine.svc(['au', 'abandon', renamed, '--yes'])).toMatchObject({ code: 0 });
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
  });

  it.each([['runs', [SUBMIT, 'au resume']] as const])(
    'a record that cannot be read is not looked for in %s while that is no directory',
    async (place, lines) => {
      const machine = await openMachine();
      const file = machine.path(join('state', place));
      mkdirSync(join(file, '..'), { recursive: true });
      writeFileSync(file, '');
      for (const line of lines) {
        const refused = await machine.svc(line);
        expect(refused.code, line).toBe(3);
        expect(refused.stderr).toContain(`${file} could not be read (ENOTDIR)`);
      }
      expect(machine.uploads()).toBe(0);
    },
  );

  it('a record that cannot be read is left where it is when the operator does not agree', async () => {
    const { machine, run } = await submittedOnce();
    writeFileSync(machine.path(`state/runs/${run}/run.json`), '');
    expect(await machine.svc(`au abandon ${run}`)).toMatchObject({ code: 2 });
    expect(existsSync(machine.path(`state/runs/${run}/run.json`))).toBe(true);
  });
});
