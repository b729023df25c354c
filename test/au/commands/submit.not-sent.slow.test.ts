import { expect, it } from 'vitest';
import { answerLost, type Fault, refuseWith } from '../support.ts';
import { type Machine, openMachine } from './machine.ts';
import { ended, succeeded } from '../../support/run-here.ts';

const SUBMIT = 'au submit tokens.csv';
const WAIT = '--wait --out results.csv --force';

/** No process listens on this port. */
const REFUSED = { SVC_BASE_URL: 'http://127.0.0.1:9' };
const UNKNOWN_HOST = { SVC_BASE_URL: 'https://nobody.invalid' };
const WRONG_KEY = { SVC_PRIVATE_API_KEY: 'key_other' };

/** Another key of the tenant, whose jobs show the tenant. */
const OTHER_KEY = { SVC_PRIVATE_API_KEY: 'sandbox-private-key-account-updater-only' };

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

/** Opens a machine on which the first attempt failed before anything was sent. */
async function failedOnce(how: string, options = ''): Promise<Machine> {
  const { env = {}, fault, code } = FAILURES[how] ?? { code: 0 };
  const machine = await openMachine();
  await machine.svc('au create', OTHER_KEY);
  machine.fault = fault;
  ended(await machine.svc(`${SUBMIT} ${options}`.trim(), env), code);
  machine.fault = undefined;
  return machine;
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

// Each failure is followed by the same command, and the last one by each other attempt.
const TRIES = Object.keys(FAILURES).flatMap((how, at, all) =>
  NEXT_TRIES.slice(0, at === all.length - 1 ? undefined : 1).map(
    ([next, line, env]) => [how, next, line, env] as const,
  ),
);

it.each(TRIES)(
  'R75: a submission that sent nothing blocks nothing and is billed once: after %s, %s',
  async (how, _, line, env) => {
    const machine = await failedOnce(how);
    ended(await machine.svc(line, env(machine)), 0, { row: { jobs: [expect.any(String)] } });
    // No profile has anything left to send, at any address.
    for (const other of [{}, FAILURES[how]?.env ?? {}, otherSpelling(machine)])
      for (const profile of ['default', 'other']) await machine.svc(`--profile ${profile} au resume`, other);
    await machine.clock.advance(20 * 86_400_000);
    await machine.svc('au resume');
    expect(machine.uploads()).toBe(1);
  },
);

it('R75: a submission that sent nothing stands in the way of no other tenant, and each tenant submits the file once', async () => {
  const machine = await failedOnce('a key without permission (403)', '--cycle 2026-11');
  const env = { SVC_BASE_URL: (await machine.tenant(2)).url };
  succeeded(await machine.svc(`${SUBMIT} --profile other --cycle 2026-11 ${WAIT}`, env));
  ended(await machine.svc(`${SUBMIT} --cycle 2026-11`), 0, { uploads: 2 });
});

it('R58 and R75: a file that another process submits meanwhile is sent by that process alone', async () => {
  const machine = await openMachine();
  await machine.svc('au create', OTHER_KEY);
  machine.fault = (incoming, _outgoing, proceed) => {
    if (incoming.method !== 'POST') return proceed();
    machine.fault = undefined;
    void machine.svc(`${SUBMIT} --profile other`).then(proceed);
  };
  succeeded(await machine.svc(SUBMIT));
  ended(await machine.svc(SUBMIT), 0, { uploads: 1 });
});
