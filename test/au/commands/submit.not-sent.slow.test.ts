import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { errorIn } from '../../support/run-here.ts';
import { answerLost, type Fault, refuseWith } from '../support.ts';
import { type Machine, openMachine } from './machine.ts';

const SUBMIT = 'au submit tokens.csv';
const WAIT = '--wait --out results.csv --force';

/** No process listens on this port. */
const REFUSED = { SVC_BASE_URL: 'http://127.0.0.1:9' };
const UNKNOWN_HOST = { SVC_BASE_URL: 'https://nobody.invalid' };
const WRONG_KEY = { SVC_PRIVATE_API_KEY: 'key_other' };

const onPost =
  (fault: Fault): Fault =>
  (incoming, outgoing, proceed) =>
    incoming.method === 'POST' ? fault(incoming, outgoing, proceed) : proceed();

interface Failure {
  readonly env?: Readonly<Record<string, string>>;
  readonly fault?: Fault;
  readonly code: number;
}

/** First attempts that send nothing. */
const FAILURES: Readonly<Record<string, Failure>> = {
  'a refused connection': { env: REFUSED, code: 8 },
  'an unknown host': { env: UNKNOWN_HOST, code: 8 },
  'a wrong key (401)': { env: WRONG_KEY, code: 4 },
  'a key without permission (403)': { fault: onPost(refuseWith(403)), code: 4 },
  'a job without a response': { fault: onPost(answerLost), code: 9 },
};

/** Opens a machine on which the first attempt failed before anything was sent. Returns it with its only run. */
async function failedOnce(how: string, options = ''): Promise<{ machine: Machine; run: string }> {
  const { env = {}, fault, code } = FAILURES[how] ?? { code: 0 };
  const machine = await openMachine();
  machine.fault = fault;
  const first = await machine.svc(`${SUBMIT} ${options}`.trim(), env);
  expect(first.code, first.stderr).toBe(code);
  machine.fault = undefined;
  return { machine, run: machine.runIds()[0] ?? '' };
}

/** The operator's next attempts: a name, a command line and its environment. */
const NEXT_TRIES: readonly (readonly [string, string, (machine: Machine) => Record<string, string>])[] = [
  ['the same command', SUBMIT, () => ({})],
  ['another profile and spelling', `--profile other ${SUBMIT}`, otherSpelling],
  ['a cycle', `${SUBMIT} --cycle 2026-11`, () => ({})],
  ['--again', `${SUBMIT} --again`, () => ({})],
  ['--again and another spelling', `${SUBMIT} --again`, otherSpelling],
];

function otherSpelling({ ours }: Machine): Record<string, string> {
  return { SVC_BASE_URL: ours.url.replace('127.0.0.1', 'localhost') };
}

const TRIES = Object.keys(FAILURES).flatMap((how) =>
  NEXT_TRIES.map(([next, line, env]) => [how, next, line, env] as const),
);

describe('a run that sent nothing', () => {
  it.each(TRIES)(
    'R75: a run that sent nothing blocks nothing and is billed once: after %s, %s',
    async (how, _, line, env) => {
      const { machine, run } = await failedOnce(how);
      const { code, stdout, stderr } = await machine.svc(line, env(machine));
      expect(code, stderr).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ run, jobs: [expect.any(String)] });
      // No profile has anything left to send, at any address.
      for (const other of [{}, FAILURES[how]?.env ?? {}, otherSpelling(machine)])
        for (const profile of ['default', 'other']) await machine.svc(`--profile ${profile} au sync`, other);
      expect(machine.runIds()).toEqual([run]);
      expect(machine.uploads()).toBe(1);
    },
  );

  it('R75: a run that sent nothing belongs to the tenant that takes it over, with its cycle', async () => {
    const { machine, run } = await failedOnce('a refused connection', '--cycle 2026-11 --tenant wrong');
    const theirs = await machine.tenant(2);
    const env = { SVC_BASE_URL: theirs.url };
    const taken = await machine.svc(`${SUBMIT} --profile other --cycle 2026-12 ${WAIT}`, env);
    expect(taken.code, taken.stderr).toBe(0);
    const record = machine.record(`state/runs/${run}`);
    expect(record).toMatchObject({ profile: 'other', base_url: theirs.url.replace(/\/$/, ''), cycle: '2026-12' });
    expect(record.tenant_id).not.toBe('wrong');
    // Our tenant still has to submit the file, and does so in a separate run.
    await machine.svc('au create');
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
    expect(machine.runIds()).toHaveLength(2);
    expect(machine.uploads()).toBe(2);
  });

  it('R75: a run that sent nothing is adopted and taken back from abandonment like any other', async () => {
    const { machine, run } = await failedOnce('a wrong key (401)');
    expect(await machine.svc(`au abandon ${run} --yes`)).toMatchObject({ code: 0 });
    const adopted = await machine.svc(`${SUBMIT} --cycle 2026-11 --adopt ${run}`);
    expect(adopted.code, adopted.stderr).toBe(0);
    expect(machine.record(`state/runs/${run}`)).toMatchObject({ cycle: '2026-11' });
    expect(JSON.parse(adopted.stdout)).toMatchObject({ run, status: 'pending' });
    expect(machine.uploads()).toBe(1);
  });

  it('R75: a run that sent nothing does not come before the run that sent something', async () => {
    const machine = await openMachine();
    expect(await machine.svc(`${SUBMIT} ${WAIT}`)).toMatchObject({ code: 0 });
    const [paid = ''] = machine.runIds();
    await machine.clock.advance(60_000);
    expect(await machine.svc(`${SUBMIT} --again`, WRONG_KEY)).toMatchObject({ code: 4 });
    expect(machine.runIds()).toHaveLength(2);
    const retried = await machine.svc(SUBMIT);
    expect(JSON.parse(retried.stdout)).toMatchObject({ run: paid, status: 'already_submitted' });
    expect(machine.uploads()).toBe(1);
    // The operator wanted a second, billed submission, and gets exactly one.
    for (let time = 0; time < 2; time += 1) expect(await machine.svc('au sync')).toMatchObject({ code: 0 });
    expect(machine.uploads()).toBe(2);
    expect(machine.runIds()).toHaveLength(2);
  });

  it('R75: a run that sent nothing is called "not sent" by runs, status, sync --dry-run and the other commands, at any address', async () => {
    const { machine, run } = await failedOnce('a refused connection');
    for (const env of [{}, REFUSED]) {
      const listed = await machine.svc('au runs', env);
      expect(JSON.parse(listed.stdout)).toMatchObject({ run, status: 'not sent' });
      const shown = await machine.svc(`au status ${run}`, { ...env, SVC_PRIVATE_API_KEY: '' });
      expect(shown.code, shown.stderr).toBe(0);
      expect(JSON.parse(shown.stdout)).toMatchObject({ part: 1, status: 'not sent' });
      expect(shown.stderr).toContain(`svc au resume ${run}`);
      for (const line of [`au wait ${run}`, `au download ${run}`]) {
        const refused = await machine.svc(line, env);
        expect(refused.code, line).toBe(5);
        expect(refused.stderr).toContain(`nothing of run ${run} was sent yet`);
      }
    }
    const plan = await machine.svc('au sync --dry-run', REFUSED);
    expect(JSON.parse(plan.stdout)).toMatchObject({ run, status: 'not sent' });
    const dry = await machine.svc(`${SUBMIT} --dry-run`);
    expect(dry.stderr).toContain('it would create 1 job');
    expect(machine.ours.ledger()).toEqual([]);
  });

  it('R75: a run that sent nothing is uploaded by au sync only while no other run of its file was begun after it', async () => {
    const { machine, run: older } = await failedOnce('a wrong key (401)');
    const record = machine.record(`state/runs/${older}`);
    writeFileSync(machine.path('work/tokens.csv'), `${exampleRequestFile()}one-more,,,\n`);
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
    writeFileSync(machine.path('work/tokens.csv'), exampleRequestFile());
    for (const profile of ['', '--profile other ']) {
      const synced = await machine.svc(`${profile}au sync`);
      expect(synced.code, synced.stderr).toBe(0);
      expect(synced.stderr.includes(`svc au abandon ${older}`)).toBe(profile === '');
    }
    expect(machine.record(`state/runs/${older}`)).toEqual(record);
    expect(machine.uploads()).toBe(1);
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
    expect(machine.runIds()).toHaveLength(2);
    expect(machine.uploads()).toBe(2);
  });

  it('a run that sent nothing is uploaded by au sync where it is the last run of its file', async () => {
    const { machine, run } = await failedOnce('a wrong key (401)');
    const synced = await machine.svc('au sync');
    expect(synced.stdout).toContain(run);
    expect(machine.uploads()).toBe(1);
  });

  it('R75: a run that sent nothing of the same file is not uploaded by au sync beside a record that cannot be read', async () => {
    const { machine, run: older } = await failedOnce('a wrong key (401)');
    const damaged = machine.path(`state/runs/${older.slice(0, -4)}0000`);
    mkdirSync(damaged);
    writeFileSync(`${damaged}/run.json`, '{');
    const synced = await machine.svc('au sync');
    expect(synced.code).toBe(3);
    expect(machine.uploads()).toBe(0);
  });
});

describe('a run that another process begins meanwhile', () => {
  it('R58 and R75: a run that another process begins meanwhile is left to that process, and the same command again finds its way', async () => {
    const machine = await openMachine();
    const theirs = { SVC_BASE_URL: (await machine.tenant(2)).url };
    // Because of another tenant's run, the command reads from the service before it locks the unsent run.
    expect(await machine.svc(`${SUBMIT} --profile other`, theirs)).toMatchObject({ code: 0 });
    await machine.svc('au create');
    machine.fault = onPost(refuseWith(403));
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 4 });
    machine.fault = (_incoming, _outgoing, proceed) => {
      machine.fault = undefined;
      void machine.svc(`${SUBMIT} --profile other --again`, theirs).then(proceed);
    };
    const late = await machine.svc(SUBMIT);
    expect(late.code, late.stderr).toBe(6);
    expect(errorIn(late)).toMatchObject({ retryable: true, message: expect.stringContaining('another process began') });
    expect(machine.uploads()).toBe(2);
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
    expect(machine.runIds()).toHaveLength(3);
    expect(machine.uploads()).toBe(3);
  });
});

describe('a run that sent something', () => {
  it('R58 and R75: a run that sent something is named with what is safe first, and --again last, as billed again', async () => {
    const machine = await openMachine();
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
    const [run = ''] = machine.runIds();
    const theirs = await machine.tenant(2);
    const refused = await machine.svc(SUBMIT, { SVC_BASE_URL: theirs.url });
    expect(refused.code).toBe(3);
    const { stderr } = refused;
    expect(stderr).toContain('this file may have been submitted');
    expect(stderr).toContain('billed again');
    const places = [`au status ${run}`, `au abandon ${run}`, '--again'].map((words) => stderr.indexOf(words));
    expect(places.every((place) => place > 0)).toBe(true);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(errorIn(refused)).toMatchObject({ run });
  });

  it('a run that sent something is refused at another address with the address that it has', async () => {
    const machine = await openMachine();
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
    const [run = ''] = machine.runIds();
    const shown = await machine.svc(`au status ${run}`, REFUSED);
    expect(shown.code).toBe(3);
    expect(shown.stderr).toContain(`--base-url ${machine.ours.url.replace(/\/$/, '')}`);
    const other = await machine.svc('au sync', REFUSED);
    expect(other.stderr).toContain('1 open run of profile default at');
    expect(await machine.svc(`au abandon ${run} --yes`, REFUSED)).toMatchObject({ code: 0 });
  });
});
