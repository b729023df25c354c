import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
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

/** The failure after which a run is recorded, because the key's tenant is known. */
const REFUSED_JOB = 'a key without permission (403)';

/** Opens a machine on which the first attempt failed before anything was sent. Returns it with its only run. */
async function failedOnce(how: string, options = ''): Promise<{ machine: Machine; run: string }> {
  const { env = {}, fault, code } = FAILURES[how] ?? { code: 0 };
  const machine = await openMachine();
  // The tenant of a key that has a job is known before the run begins.
  await machine.svc('au create');
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
      const { machine } = await failedOnce(how);
      const { code, stdout, stderr } = await machine.svc(line, env(machine));
      expect(code, stderr).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ jobs: [expect.any(String)] });
      // No profile has anything left to send, at any address.
      for (const other of [{}, FAILURES[how]?.env ?? {}, otherSpelling(machine)])
        for (const profile of ['default', 'other']) await machine.svc(`--profile ${profile} au resume`, other);
      await machine.clock.advance(20 * 86_400_000);
      await machine.svc('au resume');
      expect(machine.uploads()).toBe(1);
    },
  );

  it('R75: a run that sent nothing stands in the way of no other tenant, and each tenant submits the file once', async () => {
    const { machine } = await failedOnce(REFUSED_JOB, '--cycle 2026-11');
    const env = { SVC_BASE_URL: (await machine.tenant(2)).url };
    const theirs = await machine.svc(`${SUBMIT} --profile other --cycle 2026-11 ${WAIT}`, env);
    expect(theirs.code, theirs.stderr).toBe(0);
    expect(await machine.svc(`${SUBMIT} --cycle 2026-11`)).toMatchObject({ code: 0 });
    expect(machine.runIds()).toHaveLength(2);
    expect(machine.uploads()).toBe(2);
  });

  it('R75: a run that sent nothing is taken back from abandonment by the same command', async () => {
    const { machine, run } = await failedOnce(REFUSED_JOB);
    expect(await machine.svc(`au abandon ${run} --yes`)).toMatchObject({ code: 0 });
    const again = await machine.svc(SUBMIT);
    expect(again.code, again.stderr).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ run, status: 'pending' });
    expect(machine.uploads()).toBe(1);
  });

  it('R75: a run that sent nothing is called "not sent" by status, resume --dry-run and the other commands, at any address', async () => {
    const { machine, run } = await failedOnce(REFUSED_JOB);
    for (const env of [{}, REFUSED]) {
      const shown = await machine.svc(`au status ${run}`, { ...env, SVC_PRIVATE_API_KEY: '' });
      expect(shown.code, shown.stderr).toBe(0);
      expect(JSON.parse(shown.stdout)).toMatchObject({ part: 1, status: 'not sent' });
      expect(shown.stderr).toContain(`svc au resume ${run}`);
      const refused = await machine.svc(`au download ${run}`, env);
      expect(refused.code).toBe(5);
      expect(refused.stderr).toContain(`nothing of run ${run} was sent yet`);
    }
    const plan = await machine.svc('au resume --dry-run');
    expect(JSON.parse(plan.stdout)).toMatchObject({ run, status: 'not sent' });
    const dry = await machine.svc(`${SUBMIT} --dry-run`);
    expect(dry.stderr).toContain('it would create 1 job');
    expect(machine.uploads()).toBe(0);
  });

  it('R75: a run that sent nothing is uploaded by au resume only while no other run of its file was begun after it', async () => {
    const { machine, run: older } = await failedOnce(REFUSED_JOB);
    const record = machine.record(`state/runs/${older}`);
    writeFileSync(machine.path('work/tokens.csv'), `${exampleRequestFile()}00000000-0000-4000-8000-000000000001,,,\n`);
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
    writeFileSync(machine.path('work/tokens.csv'), exampleRequestFile());
    for (const profile of ['', '--profile other ']) {
      const synced = await machine.svc(`${profile}au resume`);
      expect(synced.code, synced.stderr).toBe(0);
      expect(synced.stderr.includes(`svc au abandon ${older}`)).toBe(profile === '');
    }
    expect(machine.record(`state/runs/${older}`)).toEqual(record);
    expect(machine.uploads()).toBe(1);
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 6 });
    expect(await machine.svc(`${SUBMIT} --pay-again`)).toMatchObject({ code: 0 });
    expect(machine.runIds()).toHaveLength(2);
    expect(machine.uploads()).toBe(2);
  });

  it('a run that sent nothing is uploaded by au resume where it is the last run of its file', async () => {
    const { machine, run } = await failedOnce(REFUSED_JOB);
    const synced = await machine.svc('au resume');
    expect(synced.stdout).toContain(run);
    expect(machine.uploads()).toBe(1);
  });

  it('R75: a run that sent nothing of the same file is not uploaded by au resume beside a record that cannot be read', async () => {
    const { machine, run: older } = await failedOnce(REFUSED_JOB);
    const damaged = machine.path(`state/runs/${older.slice(0, -4)}0000`);
    mkdirSync(damaged);
    writeFileSync(`${damaged}/run.json`, '{');
    const synced = await machine.svc('au resume');
    expect(synced.code).toBe(3);
    expect(machine.uploads()).toBe(0);
  });
});

describe('a run that another process begins meanwhile', () => {
  it('R58 and R75: a run that another process begins meanwhile is left to that process, and the same command again finds its way', async () => {
    const machine = await openMachine();
    await machine.svc('au create');
    machine.fault = onPost(refuseWith(403));
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 4 });
    machine.fault = (_incoming, _outgoing, proceed) => {
      machine.fault = undefined;
      void machine.svc(`${SUBMIT} --profile other`).then(proceed);
    };
    const late = await machine.svc(SUBMIT);
    expect([0, 6], late.stderr).toContain(late.code);
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
    expect(machine.runIds()).toHaveLength(1);
    expect(machine.uploads()).toBe(1);
  });
});

describe('a run that sent something', () => {
  it('a run that sent something is refused at another address with the address that it has', async () => {
    const machine = await openMachine();
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
    const [run = ''] = machine.runIds();
    const shown = await machine.svc(`au status ${run}`, REFUSED);
    expect(shown.code).toBe(3);
    expect(shown.stderr).toContain(`--base-url ${machine.ours.url.replace(/\/$/, '')}`);
    const other = await machine.svc('au resume', REFUSED);
    expect(other.stderr).toContain('1 open run of profile default at');
    expect(await machine.svc(`au abandon ${run} --yes`, REFUSED)).toMatchObject({ code: 0 });
  });
});
