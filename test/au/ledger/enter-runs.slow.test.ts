import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { openMachine } from '../commands/machine.ts';
import { sharedLedger } from './shared-ledger.ts';

const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');

it('R85: the new tokens of a job that was ignored before its run was entered are not sent in its cycle', async () => {
  const machine = await openMachine();
  const shared = sharedLedger(machine.path('shared'));
  const runner = { ...shared, SVC_STATE_DIR: machine.path('runner') };
  const submit = async (name: string, rows: readonly string[], more: string, env: Record<string, string>) => {
    writeFileSync(machine.path(`work/${name}.csv`), `${[HEADER, ...rows].join('\n')}\n`);
    const sent = await machine.svc(`au submit ${name}.csv --cycle 2026-12 ${more}`.trim(), env);
    expect(sent.code, sent.stderr).toBe(0);
    return JSON.parse(sent.stdout) as { readonly job: string };
  };
  await submit('theirs', ROWS.slice(20), '', runner);
  const { job } = await submit('ours', ROWS.slice(0, 20), '--new-ledger', {});
  expect((await machine.svc(['au', 'ignore', job, '--yes'], runner)).code).toBe(0);
  await submit('ours', ROWS.slice(0, 20), '--wait --out results.csv', shared);
  const [names = '', ...results] = readFileSync(machine.path('work/results.csv'), 'utf8').trimEnd().split('\n');
  const column = names.split(',').indexOf('new_token');
  const made = results.flatMap((row) => row.split(',')[column] || []).slice(0, 3);
  expect(made).toHaveLength(3);
  await submit(
    'next',
    made.map((token) => `${token},,,`),
    '',
    shared,
  );
  expect(machine.uploads()).toBe(2);
  const again = await machine.svc(['au', 'ignore', job, '--yes'], runner);
  expect([again.code, again.stderr]).toEqual([6, expect.stringContaining(`svc sent job ${job}`)]);
  const status = await machine.svc(['au', 'status', '2026-12'], runner);
  const claims = status.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly job: string; readonly results_read: boolean });
  expect(claims.find((claim) => claim.job === job)).toMatchObject({ results_read: true });
});

/** A machine with results of a cycle, and a file of the tokens that they made, whose run was pruned. */
async function openPruned() {
  const machine = await openMachine();
  const sent = await machine.svc('au submit tokens.csv --cycle 2026-12 --wait --out results.csv');
  expect(sent.code, sent.stderr).toBe(0);
  const [names = '', ...results] = readFileSync(machine.path('work/results.csv'), 'utf8').trimEnd().split('\n');
  const column = names.split(',').indexOf('new_token');
  const made = results.flatMap((row) => row.split(',')[column] || []);
  writeFileSync(machine.path('work/made.csv'), `${[HEADER, ...made.map((token) => `${token},,,`)].join('\n')}\n`);
  await machine.clock.advance(60_000);
  const pruned = await machine.svc('au prune --older-than 1s --yes');
  expect(pruned.code, pruned.stderr).toBe(0);
  const submit = (env: Record<string, string> = {}) => machine.svc('au submit made.csv --cycle 2026-12', env);
  return { machine, submit };
}

it.each(['shares a ledger', 'lost its ledger'])(
  'R85: the tokens that a pruned run made are not sent in its cycle by a machine that %s',
  async (how) => {
    const { machine, submit } = await openPruned();
    if (how === 'lost its ledger') rmSync(machine.path('state/ledger'), { recursive: true });
    const again = await submit(how === 'shares a ledger' ? sharedLedger(machine.path('shared')) : {});
    expect([again.code, machine.uploads()], again.stderr).toEqual([0, 1]);
    expect(JSON.parse(again.stdout)).toMatchObject({ status: 'nothing_new' });
  },
);

it('R85: a job that the service does not show stops its cycle for a week while the ledger does not know its tokens', async () => {
  const { machine, submit } = await openPruned();
  machine.fault = ({ method, url }, outgoing, proceed) =>
    method === 'GET' && /\/jobs\/[0-9a-f-]+$/.test(url ?? '')
      ? outgoing
          .writeHead(404, { 'content-type': 'application/problem+json' })
          .end('{"title":"Not Found","status":404}')
      : proceed();
  // The run shows that the job was sent, and no longer what it made.
  rmSync(machine.path('state/ledger'), { recursive: true });
  const shared = sharedLedger(machine.path('shared'));
  const stopped = await submit(shared);
  expect([stopped.code, machine.uploads()], stopped.stderr).toEqual([9, 1]);
  await machine.clock.advance(8 * 24 * 3_600_000);
  const again = await submit(shared);
  expect([again.code, machine.uploads()], again.stderr).toEqual([0, 2]);
  expect(again.stderr).toMatch(/the tokens that job \S+ made are not known/);
});

it.each([
  ['were delivered, is open for no machine', true, 0],
  ['were downloaded and not delivered, is open for all machines', false, 11],
] as const)('R84: the job of a run that is entered late, and whose results %s', async (_, isDelivered, code) => {
  const machine = await openMachine();
  expect(await machine.svc('au submit tokens.csv --wait --out results.csv')).toMatchObject({ code: 0 });
  const place = `state/runs/${machine.runIds()[0]}`;
  const { results, ...record } = machine.record(place);
  const left = isDelivered ? { ...record, results } : record;
  writeFileSync(machine.path(`${place}/run.json`), JSON.stringify(left));
  rmSync(machine.path('state/ledger'), { recursive: true });
  const shared = sharedLedger(machine.path('shared'));
  writeFileSync(machine.path('work/more.csv'), `${HEADER}\none-more,,,\n`);
  const more = await machine.svc('au submit more.csv --wait', shared);
  expect(more.code, more.stderr).toBe(0);
  const other = await machine.svc('au resume', { ...shared, SVC_STATE_DIR: machine.path('other') });
  expect(other.code, other.stderr).toBe(code);
});
