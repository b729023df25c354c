import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { BucketServer } from '../../support/bucket-server.ts';
import { ended, errorIn, succeeded } from '../../support/run-here.ts';
import { openMachine } from '../commands/machine.ts';
import { openQuickDesk } from '../commands/support.ts';
import { DAY, MINUTE } from './machines.ts';

it('R84: the wait for results outlasts a time in which the ledger cannot be reached', async () => {
  const desk = await openQuickDesk({ processingMs: 60_000 });
  const bucket = await BucketServer.start();
  bucket.now = () => desk.clock.now();
  const env = { ...bucket.environment, SVC_LEDGER: 's3://logs/ledger' };
  const [begin, end] = [desk.clock.now() + 30_000, desk.clock.now() + 5 * 60_000];
  let refused = 0;
  bucket.hook = (_incoming, outgoing, proceed) => {
    if (desk.clock.now() < begin || desk.clock.now() >= end) return proceed();
    refused += 1;
    outgoing.writeHead(503).end();
  };
  succeeded(await desk.svc('au submit tokens.csv --wait', env));
  expect(refused).toBeGreaterThan(0);
});

it('R84: a machine that is killed while it enters what it sent lets no other machine pay again', async () => {
  const desk = await openQuickDesk();
  const bucket = await BucketServer.start();
  bucket.now = () => desk.clock.now();
  const [state, job] = [desk.home.file('state'), desk.home.file('job')];
  succeeded(await desk.svc('au submit tokens.csv', { SVC_STATE_DIR: state }));
  await desk.clock.advance(60_000);
  const ends: number[] = [];
  for (let writes = 0; writes < 8; writes += 1) {
    const env = { ...bucket.environment, SVC_LEDGER: `s3://logs/ledger-${writes}` };
    cpSync(state, `${job}-${writes}`, { recursive: true });
    let left = writes;
    bucket.hook = ({ method }, outgoing, proceed) =>
      method === 'PUT' && (left -= 1) < 0 ? outgoing.writeHead(503).end() : proceed();
    await desk.svc('au resume', { ...env, SVC_STATE_DIR: `${job}-${writes}` });
    bucket.hook = (_incoming, _outgoing, proceed) => proceed();
    const other = await desk.svc('au submit tokens.csv', { ...env, SVC_STATE_DIR: `${job}-other-${writes}` });
    ends.push(other.code);
    expect(desk.uploads(), `${writes} writes: ${other.stderr}`).toBe(1);
  }
  expect(new Set(ends)).toEqual(new Set([0, 9]));
});

it('R79: a file without a cycle that another machine sent ends with 0 for a week after its results were read, and with 6 later', async () => {
  const desk = await openQuickDesk();
  succeeded(await desk.on('runner', 'au submit tokens.csv --wait'));
  await desk.clock.advance(6 * DAY);
  succeeded(await desk.on('laptop', 'au submit tokens.csv --wait --out soon.csv'));
  await desk.clock.advance(2 * DAY);
  const late = ended(await desk.on('desktop', 'au submit tokens.csv'), 6);
  const { next } = errorIn(late) as { readonly next: string };
  expect(next).toMatch(/^svc au submit tokens\.csv --cycle file-[0-9a-f]{16} --wait$/);
  // The command that is shown gets the results again, and bills nothing.
  succeeded(await desk.on('desktop', `${next.slice('svc '.length)} --out again.csv`));
  expect(readFileSync(desk.home.file('again.csv'), 'utf8')).toBe(readFileSync(desk.home.file('soon.csv'), 'utf8'));
  expect(desk.uploads()).toBe(1);
});

it('the results of a cycle count as compared on the machine that sent its rows, and not on one that submitted some of them', async () => {
  const desk = await openQuickDesk();
  const cycle = '--cycle 2026-12';
  succeeded(await desk.on('runner', `au submit tokens.csv ${cycle}`));
  writeFileSync(desk.home.file('some.csv'), exampleRequestFile().split('\n').slice(0, 4).join('\n'));
  ended(await desk.on('laptop', `au submit some.csv ${cycle} --wait --out some.results.csv`), 0, {
    row: { sent: 0, results: { compared: true } },
  });
  ended(await desk.on('laptop', 'au resume 2026-12 --out all.csv'), 0, {
    row: { rows: 40, results: { compared: false } },
  });
  ended(await desk.on('runner', 'au resume 2026-12 --wait --out own.csv'), 0, {
    uploads: 1,
    row: { rows: 40, results: { compared: true } },
  });
});

it('R58: a file without a cycle that a machine uploaded before it shared a ledger is not sent again', async () => {
  const desk = await openQuickDesk();
  const { SVC_STATE_DIR: state } = desk.envOf('runner');
  const created = await desk.svc('au create -o json', { SVC_STATE_DIR: state });
  const { id } = JSON.parse(created.stdout) as { id: string };
  succeeded(await desk.svc(`au upload ${id} tokens.csv`, { SVC_STATE_DIR: state }));
  const [header = '', ...rows] = readFileSync(desk.home.file('tokens.csv'), 'utf8').trimEnd().split('\n');
  writeFileSync(desk.home.file('turned.csv'), [header, ...rows.toReversed(), ''].join('\n'));
  const laptop = await desk.on('laptop', 'au submit turned.csv');
  // The other machine does not know the job before the one that sent it has the ledger.
  expect(laptop.code, laptop.stderr).toBe(9);
  for (const [line, name] of [
    ['au submit tokens.csv', 'runner'],
    ['au submit turned.csv', 'runner'],
    ['au submit turned.csv', 'laptop'],
  ] as const) {
    ended(await desk.on(name, line), 0, { row: { rows: 40, jobs: [id] } });
  }
  ended(await desk.on('laptop', 'au submit tokens.csv --cycle 2026-12'), 6, {
    uploads: 1,
    error: {
      message: expect.stringContaining('are in a submission without a cycle too'),
      next: 'svc au submit tokens.csv',
    },
  });
});

it.each([
  ['nothing of either file', false],
  ["the laptop's file", true],
] as const)(
  'R58: a row that two machines claimed before they shared a ledger is sent once, when the service has %s',
  async (_, isPaid) => {
    let isRefused = true;
    const desk = await openQuickDesk({
      intercept: ({ method, url }, outgoing, proceed) =>
        isRefused && method === 'PUT' && url?.includes('/store/') ? outgoing.writeHead(403).end() : proceed(),
    });
    const submit = 'au submit tokens.csv --cycle 2026-12';
    const [runner, { SVC_LEDGER: ledger, ...laptop }] = [desk.envOf('runner'), desk.envOf('laptop')];
    const refused = await desk.svc(submit, runner);
    expect(refused.code, refused.stderr).not.toBe(0);
    isRefused = !isPaid;
    // The laptop cannot know that nothing was sent to the pending job of the runner.
    ended(await desk.svc(submit, laptop), 11, { uploads: 0 });
    const alone = await desk.svc(`${submit} --new-ledger`, laptop);
    expect(alone.code === 0, alone.stderr).toBe(isPaid);
    isRefused = false;
    ended(await desk.svc(submit, { ...laptop, SVC_LEDGER: ledger }), 11, { uploads: Number(isPaid) });
    ended(await desk.svc(submit, runner), 11, { uploads: Number(isPaid) });
    await desk.clock.advance(80 * MINUTE);
    for (const machine of [runner, { ...laptop, SVC_LEDGER: ledger }])
      ended(await desk.svc(`${submit} --wait --out results.csv --force`, machine), 0, { uploads: 1 });
  },
);

it.each(['au resume', 'au submit other.csv'])(
  'R84: a machine that sent a file before it shared a ledger enters it with the next svc %s',
  async (line) => {
    const desk = await openQuickDesk();
    const [header = '', first = ''] = readFileSync(desk.home.file('tokens.csv'), 'utf8').split('\n');
    writeFileSync(desk.home.file('other.csv'), `${header}\n${first.replace(/^.{8}/, '00000000')}\n`);
    const { SVC_STATE_DIR: state } = desk.envOf('runner');
    succeeded(await desk.svc('au submit tokens.csv --wait', { SVC_STATE_DIR: state }));
    succeeded(await desk.on('runner', line));
    const before = desk.uploads();
    ended(await desk.on('laptop', 'au submit tokens.csv'), 0, { uploads: before });
  },
);

it('the embedded sandbox has a ledger apart from that of the service', async () => {
  const desk = await openQuickDesk();
  const ledgers = (): string[] => readdirSync(desk.home.file('state/ledger')).filter((name) => name !== 'first-job');
  const env = { SVC_STATE_DIR: desk.home.file('state') };
  succeeded(await desk.svc('--sandbox au submit tokens.csv', env));
  expect(ledgers()).toEqual(['sandbox']);
  succeeded(await desk.svc('au submit tokens.csv', env));
  expect(ledgers()).toHaveLength(2);
  expect(desk.uploads()).toBe(1);
});

it('the ledger of a cycle that is a file stops svc au submit with its path, and nothing is sent', async () => {
  const machine = await openMachine();
  succeeded(await machine.svc('au submit tokens.csv --cycle 2026-10'));
  const tenant = readdirSync(machine.path('state/ledger')).find((name) => name !== 'first-job') ?? '';
  const file = machine.path(`state/ledger/${tenant}/cycles/2026-11`);
  writeFileSync(file, '');
  const sent = machine.uploads();
  const result = await machine.svc('au submit tokens.csv --cycle 2026-11 --pay-again');
  expect(errorIn(result)).toMatchObject({ exit_code: 3, message: `${file} is not a directory` });
  expect(machine.uploads()).toBe(sent);
});
