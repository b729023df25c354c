import { cpSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { BucketServer } from '../../support/bucket-server.ts';
import { openQuickDesk } from '../commands/support.ts';

it('R84: the wait for results outlasts a time in which the ledger cannot be reached', async () => {
  const desk = await openQuickDesk();
  const bucket = await BucketServer.start();
  onTestFinished(() => bucket.close());
  bucket.now = () => desk.clock.now();
  const env = { ...bucket.environment, SVC_LEDGER: 's3://logs/ledger' };
  const submitted = await desk.svc('au submit tokens.csv', env);
  expect(submitted.code, submitted.stderr).toBe(0);
  const end = desk.clock.now() + 5 * 60_000;
  let refused = 0;
  bucket.hook = (_incoming, outgoing, proceed) => {
    if (desk.clock.now() >= end) return proceed();
    refused += 1;
    outgoing.writeHead(503).end();
  };
  const waited = await desk.svc(`au wait ${desk.runIds()[0] ?? ''}`, env);
  expect(waited.code, waited.stderr).toBe(0);
  expect(refused).toBeGreaterThan(0);
});

it('R84: a machine that is killed while it enters what it sent lets no other machine pay again', async () => {
  const desk = await openQuickDesk();
  const bucket = await BucketServer.start();
  onTestFinished(() => bucket.close());
  bucket.now = () => desk.clock.now();
  const [state, job] = [desk.home.file('state'), desk.home.file('job')];
  const submitted = await desk.svc('au submit tokens.csv', { SVC_STATE_DIR: state });
  expect(submitted.code, submitted.stderr).toBe(0);
  await desk.clock.advance(60_000);
  const ends: number[] = [];
  for (let writes = 0; writes < 8; writes += 1) {
    const env = { ...bucket.environment, SVC_LEDGER: `s3://logs/ledger-${writes}` };
    cpSync(state, `${job}-${writes}`, { recursive: true });
    let left = writes;
    bucket.hook = ({ method }, outgoing, proceed) =>
      method === 'PUT' && (left -= 1) < 0 ? outgoing.writeHead(503).end() : proceed();
    await desk.svc('au sync', { ...env, SVC_STATE_DIR: `${job}-${writes}` });
    bucket.hook = (_incoming, _outgoing, proceed) => proceed();
    const other = await desk.svc('au submit tokens.csv', { ...env, SVC_STATE_DIR: `${job}-other-${writes}` });
    ends.push(other.code);
    expect(desk.uploads(), `${writes} writes: ${other.stderr}`).toBe(1);
  }
  expect(new Set(ends)).toEqual(new Set([0, 9]));
});
