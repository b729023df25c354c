import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { BUCKET } from '../../support/bucket-signature.ts';
import { BucketServer } from '../../support/bucket-server.ts';
import { type Machine, openMachine } from '../commands/machine.ts';
import { ended, succeeded } from '../../support/run-here.ts';

const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');

/** Brings a ledger into a state in which every attempt to send rows is refused. Returns the variables that name it. */
type Refuse = (machine: Machine) => Promise<Readonly<Record<string, string>>>;

/** A bucket that this machine may only read. */
const readOnlyBucket: Refuse = async (machine) => {
  const bucket = await BucketServer.start();
  bucket.now = () => machine.clock.now();
  const env = { SVC_LEDGER: `s3://${BUCKET.name}/shared`, ...bucket.environment };
  await sendFirst(machine, env);
  bucket.hook = (incoming, outgoing, proceed) => {
    if (incoming.method !== 'PUT') return proceed();
    incoming.resume();
    outgoing.writeHead(403, { 'content-type': 'application/xml' });
    return outgoing.end('<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>');
  };
  return env;
};

/** A ledger whose first entry was removed. */
const damaged: Refuse = async (machine) => {
  await sendFirst(machine, {});
  const top = machine.path('first/ledger');
  const entry = readdirSync(top, { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith('1.json')) ?? '';
  writeFileSync(join(top, entry), '{}');
  return { SVC_STATE_DIR: machine.path('first') };
};

async function sendFirst(machine: Machine, env: Readonly<Record<string, string>>): Promise<void> {
  writeFileSync(machine.path('work/first.csv'), `${[HEADER, ...ROWS.slice(0, 4)].join('\n')}\n`);
  succeeded(await machine.svc('au submit first.csv --cycle 2026-12', { SVC_STATE_DIR: machine.path('first'), ...env }));
}

it.each([
  ['a bucket that may only be read', readOnlyBucket, false],
  ['a bucket that may only be read, each time without a state directory', readOnlyBucket, true],
  ['a damaged ledger', damaged, false],
] as const)('R74: a retry loop against %s sends nothing and leaves at most one job', async (_, refuse, isFresh) => {
  const machine = await openMachine();
  const env = await refuse(machine);
  let created = 0;
  machine.fault = (incoming, _outgoing, proceed) => {
    if (incoming.method === 'POST' && incoming.url?.endsWith('/jobs') === true) created += 1;
    proceed();
  };
  for (let attempt = 1; attempt <= 6; attempt += 1) {
    if (isFresh) rmSync(machine.path('state'), { recursive: true, force: true });
    await machine.clock.advance(20_000);
    ended(await machine.svc('au submit tokens.csv --cycle 2026-12', env), 3, { uploads: 1 });
  }
  expect(created).toBeLessThanOrEqual(1);
});
