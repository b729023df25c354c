import { existsSync, readFileSync, renameSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { errorIn, type HereResult } from '../../support/run-here.ts';
import { openMachine, submittedOnce } from '../commands/machine.ts';
import type { Fault } from '../support.ts';

const DAY = 86_400_000;
/** A gateway that responds to every read with 404. */
const HIDDEN: Fault = (incoming, outgoing, proceed) =>
  incoming.method === 'GET' ? outgoing.writeHead(404, { 'content-type': 'text/html' }).end('<html>') : proceed();

const SUBMIT = 'au submit tokens.csv';
const OUT = '--wait --out results.csv --force';

/** Returns the command that a refused one names. */
function nextOf(refused: HereResult): string {
  expect(refused.code, refused.stderr).toBe(6);
  return String(errorIn(refused)['next']).replace(/^svc /, '');
}

describe('the same file at the same tenant', () => {
  it('R58: the same file at the same tenant is recognized under another profile name, and is one run', async () => {
    const { machine, run } = await submittedOnce();
    const { code, stdout, stderr } = await machine.svc(`${SUBMIT} --profile other ${OUT}`);
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ run, status: 'completed' });
    expect(machine.uploads()).toBe(1);
  });

  it('R58: the same file at the same tenant is recognized under another spelling of the base URL, and can be followed there', async () => {
    const { machine, run } = await submittedOnce();
    const env = { SVC_BASE_URL: machine.ours.url.replace('127.0.0.1', 'localhost') };
    expect(await machine.svc(SUBMIT, env)).toMatchObject({ code: 0 });
    expect(await machine.svc(`au resume ${run} --wait`, env)).toMatchObject({ code: 0 });
    expect(await machine.svc(`au resume ${run} --wait`)).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(1);
  });

  it.each(['old-run', 'run-20260105-0a1b2c3d-4e5f'])(
    'R58: the same file at the same tenant is recognized when the directory of its run was renamed to %s, and is called by its id',
    async (name) => {
      const { machine, run } = await submittedOnce();
      renameSync(machine.path(`state/runs/${run}`), machine.path(`state/runs/${name}`));
      const listed = await machine.svc('au resume --dry-run --output json');
      expect(JSON.parse(listed.stdout)).toMatchObject([{ run, status: 'pending' }]);
      expect(await machine.svc(`au status ${run}`)).toMatchObject({ code: 0 });
      const { code, stdout, stderr } = await machine.svc(`${SUBMIT} ${OUT}`);
      expect(code, stderr).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ run, status: 'completed' });
      expect(machine.uploads()).toBe(1);
    },
  );

  it('the same file at the same tenant is also shown by the new name of the directory of its run', async () => {
    const { machine, run } = await submittedOnce();
    const name = 'run-20260105-0a1b2c3d-4e5f';
    renameSync(machine.path(`state/runs/${run}`), machine.path(`state/runs/${name}`));
    const { code, stdout, stderr } = await machine.svc(`au status ${name}`);
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ part: 1, rows: 40 });
  });

  it('R58: the same file at the same tenant is one run when two terminals begin it at once', async () => {
    const machine = await openMachine();
    const both = await Promise.all([machine.svc(SUBMIT), machine.svc(SUBMIT)]);
    // The second terminal finds the run, which the first one may still have locked.
    expect(both.every(({ code }) => code === 0 || code === 11)).toBe(true);
    expect(both.some(({ code }) => code === 0)).toBe(true);
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(1);
  });

  it('R58: the same file at the same tenant is not submitted again with a key that may not read its jobs', async () => {
    const { machine } = await submittedOnce();
    machine.fault = HIDDEN;
    for (const options of ['', '--profile other', '--profile other --wait --out r.csv']) {
      const refused = await machine.svc(`${SUBMIT} ${options}`.trim());
      expect(refused.code, refused.stderr).not.toBe(0);
      expect(machine.uploads()).toBe(1);
    }
    machine.fault = undefined;
    expect(await machine.svc(`${SUBMIT} ${OUT}`)).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(1);
  });
});

it('a word names the run with this id, or else the run in the directory with this name', async () => {
  const { machine, run: first } = await submittedOnce();
  await machine.clock.advance(60_000);
  expect(await machine.svc(`${SUBMIT} --cycle 2026-11 --pay-again`)).toMatchObject({ code: 0 });
  const second = machine.runIds().find((run) => run !== first) ?? '';
  const jobOf = (run: string): string | undefined => machine.record(`state/runs/${run}`).parts[0]?.job;
  const [jobOfFirst, jobOfSecond] = [jobOf(first), jobOf(second)];
  const shownJob = async (word: string): Promise<unknown> => {
    const { code, stdout, stderr } = await machine.svc(`au status ${word}`);
    expect(code, stderr).toBe(0);
    return (JSON.parse(stdout) as { readonly job: string }).job;
  };
  renameSync(machine.path(`state/runs/${second}`), machine.path('state/runs/run-of-mine'));
  expect(await shownJob('run-of-mine')).toBe(jobOfSecond);
  renameSync(machine.path(`state/runs/${first}`), machine.path(`state/runs/${second}`));
  expect([await shownJob(first), await shownJob(second)]).toEqual([jobOfFirst, jobOfSecond]);
});

describe('the same file at another tenant', () => {
  it.each(['has jobs', 'never had a job'])(
    'the same file at another tenant that %s is a run of its own',
    async (which) => {
      const { machine } = await submittedOnce();
      const theirs = await machine.tenant(2);
      const env = { SVC_BASE_URL: theirs.url };
      if (which === 'has jobs') await machine.svc('au create', env);
      const first = await machine.svc(`${SUBMIT} ${OUT}`, env);
      expect(first.code, first.stderr).toBe(0);
      expect(machine.runIds()).toHaveLength(2);
      expect(machine.uploads()).toBe(2);
      // Each tenant continues its run.
      expect(await machine.svc(SUBMIT, env)).toMatchObject({ code: 0 });
      expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
      expect(machine.uploads()).toBe(2);
    },
  );

  it('the same file at another tenant is no reason to keep a file from the service that was tried in the embedded sandbox', async () => {
    const machine = await openMachine();
    expect(await machine.svc(`--sandbox ${SUBMIT}`, { SVC_BASE_URL: '' })).toMatchObject({ code: 0 });
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(1);
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
    expect(errorIn(refused)).toMatchObject({
      next: `svc au download ${run}`,
      hint: expect.stringContaining('such as --cycle 2026-11: all of its rows are billed again in it'),
    });
    expect(existsSync(machine.path('work/results.csv'))).toBe(false);
    expect(machine.uploads()).toBe(1);
    // A month later, the named cycle begins like any other.
    await machine.clock.advance(20 * DAY);
    const monthly = await machine.svc(`${SUBMIT} --cycle 2026-11`);
    expect(monthly.code, monthly.stderr).toBe(0);
    expect(machine.uploads()).toBe(2);
  });

  it('a file that was submitted before is refused with commands that succeed, whichever is followed', async () => {
    const { machine } = await submittedOnce('--wait');
    await machine.clock.advance(8 * DAY);
    const again = nextOf(await machine.svc(SUBMIT));
    const results = nextOf(await machine.svc(`${SUBMIT} --cycle 2026-11`));
    expect(results).toMatch(/^au resume file-[0-9a-f]{16}$/);
    expect(await machine.svc(`${results} --out later.csv`)).toMatchObject({ code: 0 });
    expect(readFileSync(machine.path('work/later.csv'), 'utf8')).toMatch(/^token,/);
    expect(again).toMatch(/^au download run-/);
    expect(await machine.svc(`${again} --out again.csv`)).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(1);
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

  it('R58: a cycle does not take up a run of the file that has none, or another one', async () => {
    const { machine, run } = await submittedOnce('--wait');
    await machine.clock.advance(36 * DAY);
    const begun = await machine.svc(`${SUBMIT} --cycle 2026-12`);
    expect(begun.code, begun.stderr).toBe(0);
    const { run: other } = JSON.parse(begun.stdout) as { run: string };
    expect(other).not.toBe(run);
    expect(machine.uploads()).toBe(2);
    const again = await machine.svc(`${SUBMIT} --cycle 2026-12`);
    expect(JSON.parse(again.stdout)).toMatchObject({ run: other });
    expect(machine.uploads()).toBe(2);
  });
});

describe('an abandoned run', () => {
  it('R58: an abandoned run of a file keeps it from being submitted again until it is resumed by name, or with another cycle', async () => {
    const { machine, run } = await submittedOnce();
    expect(await machine.svc(`au abandon ${run} --yes`)).toMatchObject({ code: 0 });
    const refused = await machine.svc(SUBMIT);
    expect(refused.code).toBe(2);
    expect(errorIn(refused)).toMatchObject({ run, next: `svc au resume ${run}` });
    expect(machine.uploads()).toBe(1);
    expect(await machine.svc(`au resume ${run}`)).toMatchObject({ code: expect.any(Number) });
    const { stdout } = await machine.svc(`${SUBMIT} ${OUT}`);
    expect(JSON.parse(stdout)).toMatchObject({ run, status: 'already_submitted' });
    expect(machine.uploads()).toBe(1);
  });
});

describe('a container', () => {
  it('a container is warned that only a volume keeps the record of what was paid for, and not when one did', async () => {
    const machine = await openMachine();
    const env = { container: 'oci' };
    expect((await machine.svc(SUBMIT, env)).stderr).toMatch(/state directory .* was empty: .* mount a volume there/);
    expect((await machine.svc(`${SUBMIT} --cycle 2 --pay-again --new-ledger`, env)).stderr).not.toContain('was empty');
  });
});

describe('a CI job', () => {
  it('a CI job is warned loudly when the state directory was empty, and not when it was restored', async () => {
    const machine = await openMachine();
    const env = { CI: 'true', GITHUB_ACTIONS: 'true' };
    const { stderr: warned } = await machine.svc(SUBMIT, env);
    expect(warned).not.toMatch(/^warning: the state directory/m);
    expect(warned).toMatch(/^::warning title=svc au submit::the state directory .* was empty/m);
    expect((await machine.svc(`${SUBMIT} --cycle 2 --pay-again --new-ledger`, env)).stderr).not.toContain('was empty');
    const { stderr } = await (await openMachine()).svc(SUBMIT);
    expect(stderr).not.toContain('was empty');
  });
});
