import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { errorIn } from '../../support/run-here.ts';
import { type Machine, openMachine } from '../commands/machine.ts';
import type { Fault } from '../support.ts';

const DAY = 86_400_000;
/** A gateway that responds to every read with 404. */
const HIDDEN: Fault = (incoming, outgoing, proceed) =>
  incoming.method === 'GET' ? outgoing.writeHead(404, { 'content-type': 'text/html' }).end('<html>') : proceed();

const SUBMIT = 'au submit tokens.csv';
const OUT = '--wait --out results.csv --force';

/** Opens a machine on which the file was submitted once. Returns it with its only run. */
async function submittedOnce(options = ''): Promise<{ machine: Machine; run: string }> {
  const machine = await openMachine();
  const { code, stderr } = await machine.svc(`${SUBMIT} ${options}`.trim());
  expect(code, stderr).toBe(0);
  return { machine, run: machine.runIds()[0] ?? '' };
}

describe('the same file at the same tenant', () => {
  it.each([
    ['under another profile name', '--profile other'],
    ['with a --run-dir', '--run-dir kept'],
  ])('R58: the same file at the same tenant is recognized %s, and is one run', async (_, options) => {
    const { machine, run } = await submittedOnce();
    const { code, stdout, stderr } = await machine.svc(`${SUBMIT} ${options} ${OUT}`);
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ run, status: 'completed' });
    expect(machine.uploads()).toBe(1);
  });

  it('R58: the same file at the same tenant is recognized under another spelling of the base URL, and can be followed there', async () => {
    const { machine, run } = await submittedOnce();
    const env = { SVC_BASE_URL: machine.ours.url.replace('127.0.0.1', 'localhost') };
    expect(await machine.svc(SUBMIT, env)).toMatchObject({ code: 0 });
    expect(await machine.svc(`au wait ${run}`, env)).toMatchObject({ code: 0 });
    expect(await machine.svc(`au wait ${run}`)).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(1);
  });

  it.each(['old-run', 'run-20260105-0a1b2c3d-4e5f'])(
    'R58: the same file at the same tenant is recognized when the directory of its run was renamed to %s, and is called by its id',
    async (name) => {
      const { machine, run } = await submittedOnce();
      renameSync(machine.path(`state/runs/${run}`), machine.path(`state/runs/${name}`));
      const listed = await machine.svc('au runs --output json');
      expect(JSON.parse(listed.stdout)).toMatchObject([{ run, status: 'pending' }]);
      expect(await machine.svc(`au status ${run}`)).toMatchObject({ code: 0 });
      const { code, stdout, stderr } = await machine.svc(`${SUBMIT} ${OUT}`);
      expect(code, stderr).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ run, status: 'completed' });
      expect(machine.uploads()).toBe(1);
    },
  );

  it('R58: the same file at the same tenant is recognized when its run is recorded in a --run-dir, from any other one and from none', async () => {
    const machine = await openMachine();
    await machine.svc(`${SUBMIT} --run-dir first`);
    for (const options of ['', '--run-dir second', '--run-dir first', '--profile other'])
      expect(await machine.svc(`${SUBMIT} ${options}`.trim())).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(1);
    expect(existsSync(machine.path('work/second/run.json'))).toBe(false);
  });

  it('R58: the same file at the same tenant is one run when two terminals begin it in two directories at once', async () => {
    const machine = await openMachine();
    const both = await Promise.all(
      ['first', 'second'].map((directory) => machine.svc(`${SUBMIT} --run-dir ${directory}`)),
    );
    // The second terminal finds the run, which the first one may still have locked.
    expect(both.every(({ code }) => code === 0 || code === 11)).toBe(true);
    expect(both.some(({ code }) => code === 0)).toBe(true);
    expect(machine.uploads()).toBe(1);
  });

  it('the same file at the same tenant is submitted with a --run-dir where there is no state directory, with a warning', async () => {
    const machine = await openMachine();
    const env = { SVC_STATE_DIR: machine.path('config/config.json') };
    const { code, stderr } = await machine.svc(`${SUBMIT} --run-dir kept`, env);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('cannot be written: this file will be recognized only with --run-dir');
    expect(await machine.svc(`${SUBMIT} --run-dir kept`, env)).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(1);
  });

  it('R58: the same file at the same tenant is not submitted again when its --run-dir is gone, until that is set aside', async () => {
    const machine = await openMachine();
    await machine.svc(`${SUBMIT} --run-dir kept`);
    rmSync(machine.path('work/kept'), { recursive: true });
    const refused = await machine.svc(SUBMIT);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain(machine.path('work/kept'));
    expect(await machine.svc('au abandon kept --yes')).toMatchObject({ code: 0 });
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(2);
  });

  it('R58: the same file at the same tenant is not submitted again with a key that may not read what would prove it', async () => {
    const { machine, run } = await submittedOnce();
    machine.fault = HIDDEN;
    for (const options of ['--profile other', '--profile other --wait --out r.csv']) {
      const refused = await machine.svc(`${SUBMIT} ${options}`);
      expect(refused.code).toBe(3);
      expect(errorIn(refused)).toMatchObject({ run });
      expect(refused.stderr).toMatch(/--again .*--tenant|--tenant .*--again/);
    }
    expect(machine.ours.ledger().filter(({ method }) => method === 'POST')).toHaveLength(1);
    expect(machine.uploads()).toBe(1);
  });

  it('R58: the same file at the same tenant is recognized by --tenant where the service shows nothing', async () => {
    const { machine, run } = await submittedOnce();
    const { tenant_id: tenant = '' } = machine.record(`state/runs/${run}`);
    machine.fault = (incoming, outgoing, proceed) => {
      // Only the first two reads fail. They would prove the tenant.
      if (incoming.url?.includes('?')) machine.fault = undefined;
      HIDDEN(incoming, outgoing, proceed);
    };
    expect(await machine.svc(`${SUBMIT} --profile other --tenant ${tenant}`)).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(1);
    const wrong = await machine.svc(`${SUBMIT} --tenant another`);
    expect(wrong.code).toBe(3);
    expect(wrong.stderr).toContain(`belongs to tenant ${tenant}, not to another`);
  });
});

describe('the same file at another tenant', () => {
  it('the same file at another tenant is a run of its own, proven by the jobs that this tenant has', async () => {
    const { machine } = await submittedOnce();
    const theirs = await machine.tenant(2);
    const env = { SVC_BASE_URL: theirs.url };
    expect(await machine.svc('au create', env)).toMatchObject({ code: 0 });
    expect(await machine.svc(`${SUBMIT} ${OUT}`, env)).toMatchObject({ code: 0 });
    expect(machine.runIds()).toHaveLength(2);
    expect(machine.uploads()).toBe(2);
    // Each tenant continues its run.
    expect(await machine.svc(SUBMIT, env)).toMatchObject({ code: 0 });
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(2);
  });

  it('the same file at another tenant that never had a job asks which tenant it is, and takes --tenant for an answer', async () => {
    const { machine } = await submittedOnce();
    const theirs = await machine.tenant(2);
    const env = { SVC_BASE_URL: theirs.url };
    expect(await machine.svc(SUBMIT, env)).toMatchObject({ code: 3 });
    expect(theirs.ledger().every(({ method }) => method === 'GET')).toBe(true);
    const shown = await machine.svc('tenant show', { ...env, SVC_MANAGEMENT_API_KEY: 'sandbox-management-key' });
    const { id: tenant } = JSON.parse(shown.stdout) as { id: string };
    expect(await machine.svc(`${SUBMIT} --tenant ${tenant}`, env)).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(2);
  });

  it('the same file at another tenant is no reason to keep a file from the service that was tried in the embedded sandbox', async () => {
    const machine = await openMachine();
    expect(await machine.svc(`--sandbox ${SUBMIT}`, { SVC_BASE_URL: '' })).toMatchObject({ code: 0 });
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(1);
  });
});

/** Ways in which a record can be damaged, given its path. */
const DAMAGE: Readonly<Record<string, (record: string) => void>> = {
  'is empty': (file) => writeFileSync(file, ''),
  'is null': (file) => writeFileSync(file, 'null'),
  'is cut off': (file) => writeFileSync(file, readFileSync(file, 'utf8').slice(0, 200)),
  'is a directory': (file) => {
    rmSync(file);
    mkdirSync(file);
  },
  'is of a newer version': (file) => writeFileSync(file, '{"version":2}'),
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
    for (const options of ['', '--cycle 2026-11', '--profile other', '--run-dir kept', '--dry-run']) {
      const refused = await machine.svc(`${SUBMIT} ${options}`.trim());
      expect(refused.code, options).toBe(3);
      expect(refused.stderr).toContain(run);
    }
    expect(await machine.svc('au sync')).toMatchObject({ code: 3 });
    expect(machine.uploads()).toBe(1);
    const abandoned = await machine.svc(`au abandon ${machine.path(`state/runs/${run}`)} --yes`);
    expect(abandoned.code, abandoned.stderr).toBe(0);
    expect(JSON.parse(abandoned.stdout)).toMatchObject({ run, status: 'damaged' });
    expect(abandoned.stderr).toMatch(/completed {2}2026-11-02/);
    expect(existsSync(machine.path(`state/runs/damaged/${run}`))).toBe(true);
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(2);
  });

  it('a record that cannot be read is passed over by --again, and no retry of that one submits the file once more', async () => {
    const { machine, run } = await submittedOnce();
    writeFileSync(machine.path(`state/runs/${run}/run.json`), '');
    expect(await machine.svc(`${SUBMIT} --again`)).toMatchObject({ code: 0 });
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(2);
  });

  it('R58: a record that cannot be read keeps an older run of the file from being uploaded, too', async () => {
    const machine = await openMachine();
    // The store refuses the first run's file. The second run is billed, and then its record is damaged.
    machine.fault = (incoming, outgoing, proceed) =>
      incoming.method === 'PUT' ? outgoing.writeHead(403).end() : proceed();
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 4 });
    const older = machine.runIds();
    machine.fault = undefined;
    expect(await machine.svc(`${SUBMIT} --again`)).toMatchObject({ code: 0 });
    const newer = machine.runIds().find((id) => !older.includes(id)) ?? '';
    writeFileSync(machine.path(`state/runs/${newer}/run.json`), '');
    const refused = await machine.svc(SUBMIT);
    expect(refused.code, refused.stderr).toBe(3);
    expect(refused.stderr).toContain(newer);
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
    writeFileSync(machine.path('work/more.csv'), `${exampleRequestFile()}one-more,,,\n`);
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

  it.each([
    ['runs', [SUBMIT, 'au runs', 'au sync']],
    ['runs/elsewhere', [SUBMIT]],
  ])('a record that cannot be read is not looked for in %s while that is no directory', async (place, lines) => {
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
  });

  it('a record that cannot be read is left where it is when the operator does not agree', async () => {
    const { machine, run } = await submittedOnce();
    writeFileSync(machine.path(`state/runs/${run}/run.json`), '');
    expect(await machine.svc(`au abandon ${run}`)).toMatchObject({ code: 2 });
    expect(existsSync(machine.path(`state/runs/${run}/run.json`))).toBe(true);
  });
});

describe('a file that was submitted before', () => {
  it('a file that was submitted before is a retry within seven days of its completion, and gets the earlier results', async () => {
    const { machine, run } = await submittedOnce('--wait');
    await machine.clock.advance(6.9 * DAY);
    const { code, stdout, stderr } = await machine.svc(`${SUBMIT} --out later.csv`);
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ run, status: 'already_submitted' });
    expect(readFileSync(machine.path('work/later.csv'), 'utf8')).toMatch(/^token,/);
    const waited = await machine.svc(`${SUBMIT} ${OUT}`);
    expect(JSON.parse(waited.stdout)).toMatchObject({
      run,
      status: 'already_submitted',
      results: { updated: expect.any(Number) },
    });
    expect(machine.uploads()).toBe(1);
  });

  it('a file that was submitted before is neither submitted nor passed over in silence after that', async () => {
    const { machine, run } = await submittedOnce('--wait');
    await machine.clock.advance(8 * DAY);
    const refused = await machine.svc(`${SUBMIT} ${OUT}`);
    expect(refused.code).toBe(6);
    expect(errorIn(refused)).toMatchObject({ run, submitted_at: '2026-11-02T04:00:00.000Z' });
    expect(refused.stderr).toContain('tokens.csv --cycle 2026-11');
    expect(refused.stderr).toContain('--again');
    expect(existsSync(machine.path('work/results.csv'))).toBe(false);
    expect(machine.uploads()).toBe(1);
    expect(await machine.svc(`${SUBMIT} --again`)).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(2);
  });

  it('a file that was submitted before continues with an unfinished run on any day', async () => {
    const { machine, run } = await submittedOnce();
    await machine.clock.advance(60 * DAY);
    const { stdout } = await machine.svc(`${SUBMIT} ${OUT}`);
    expect(JSON.parse(stdout)).toMatchObject({ run, status: 'completed' });
    expect(machine.uploads()).toBe(1);
  });
});

describe('a cycle', () => {
  it('R58: a cycle is submitted once, however often it is named, and each month has its own', async () => {
    const machine = await openMachine();
    for (const [month, cycle] of ['2026-11', '2026-12', '2027-01'].entries()) {
      for (const spelling of [cycle, ` ${cycle} `, cycle])
        expect(await machine.svc(['au', 'submit', 'tokens.csv', '--cycle', spelling, ...OUT.split(' ')])).toMatchObject(
          { code: 0 },
        );
      await machine.clock.advance(29 * DAY);
      const late = await machine.svc(`${SUBMIT} --cycle ${cycle} ${OUT}`);
      expect(JSON.parse(late.stdout)).toMatchObject({ status: 'already_submitted' });
      expect(machine.uploads()).toBe(month + 1);
    }
    const cycles = machine.runIds().map((run) => machine.record(`state/runs/${run}`).cycle ?? '');
    expect(new Set(cycles)).toEqual(new Set(['2026-11', '2026-12', '2027-01']));
  });

  it.each(['', 'two words', 'x'.repeat(41), 'a/b', 'ü'])('a cycle refuses %j as its name', async (name) => {
    const machine = await openMachine();
    expect(await machine.svc(['au', 'submit', 'tokens.csv', '--cycle', name])).toMatchObject({ code: 2 });
  });

  it.each([
    ['an unfinished run', '', 60],
    ['a run finished within 35 days', '--wait', 34],
  ])('R58: a cycle does not begin beside %s that has none, which can be adopted', async (_, options, days) => {
    const { machine, run } = await submittedOnce(options);
    await machine.clock.advance(days * DAY);
    const refused = await machine.svc(`${SUBMIT} --cycle 2026-11`);
    expect(refused.code).toBe(6);
    expect(refused.stderr).toContain(`--adopt ${run}`);
    expect(refused.stderr).toContain('--again');
    for (const again of ['first', 'retry']) {
      const adopted = await machine.svc(`${SUBMIT} --cycle 2026-11 --adopt ${run} ${OUT}`);
      expect(adopted.code, `${again}: ${adopted.stderr}`).toBe(0);
    }
    expect(machine.record(`state/runs/${run}`).cycle).toBe('2026-11');
    expect(machine.uploads()).toBe(1);
    expect(await machine.svc(`${SUBMIT} --cycle 2026-12`)).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(2);
  });

  it('a cycle begins when the last run without one is long over', async () => {
    const { machine } = await submittedOnce('--wait');
    await machine.clock.advance(36 * DAY);
    expect(await machine.svc(`${SUBMIT} --cycle 2026-12`)).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(2);
  });

  it('a cycle is not taken over: --adopt refuses the run of another cycle, another file, or none', async () => {
    const { machine, run } = await submittedOnce('--cycle 2026-11');
    expect(await machine.svc(`${SUBMIT} --cycle 2026-12 --adopt ${run}`)).toMatchObject({ code: 6 });
    expect(await machine.svc(`${SUBMIT} --cycle 2026-12 --adopt run-none`)).toMatchObject({ code: 2 });
    expect(await machine.svc(`${SUBMIT} --adopt ${run}`)).toMatchObject({ code: 2 });
    expect(await machine.svc(`${SUBMIT} --cycle x --again --adopt ${run}`)).toMatchObject({ code: 2 });
    expect(machine.uploads()).toBe(1);
  });
});

describe('a container', () => {
  it('a container is warned that only a volume keeps the record of what was paid for, and not when one did', async () => {
    const machine = await openMachine();
    const env = { container: 'oci' };
    expect((await machine.svc(SUBMIT, env)).stderr).toMatch(/state directory .* was empty: .* Mount a volume there/);
    expect((await machine.svc(`${SUBMIT} --cycle 2`, env)).stderr).not.toContain('was empty');
  });
});

describe('a CI job', () => {
  it('a CI job is warned loudly when the state directory was empty, and not when it was restored', async () => {
    const machine = await openMachine();
    const env = { CI: 'true', GITHUB_ACTIONS: 'true' };
    const { stderr: warned } = await machine.svc(SUBMIT, env);
    expect(warned).not.toMatch(/^warning: the state directory/m);
    expect(warned).toMatch(/^::warning title=svc au submit::the state directory .* was empty/m);
    expect((await machine.svc(`${SUBMIT} --cycle 2`, env)).stderr).not.toContain('was empty');
    const { stderr } = await (await openMachine()).svc(SUBMIT);
    expect(stderr).not.toContain('was empty');
  });
});
