import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { REQUEST_COLUMNS } from '../../../src/schema/account-updater-files.ts';
import { openMachine } from '../../au/commands/machine.ts';
import { sharedLedger } from '../../au/ledger/shared-ledger.ts';
import { ended, succeeded } from '../../support/run-here.ts';

it('svc doctor fails where the ledger that this machine used is gone, is not set, or nothing of it is there', async () => {
  const machine = await openMachine();
  const shared = sharedLedger(machine.path('shared'));
  const doctor = async (env: Record<string, string>) => {
    const { code, stdout } = await machine.svc('doctor -o json', env);
    const findings = JSON.parse(stdout) as { check: string; result: string; found: string }[];
    return { exit: code, ...findings.find(({ check }) => check === 'ledger') };
  };
  succeeded(await machine.svc('au submit tokens.csv', shared));
  expect(await doctor(shared)).toMatchObject({ result: 'ok' });
  const other = await machine.tenant(2);
  expect((await doctor({ SVC_BASE_URL: other.url })).result).toBeUndefined();
  const elsewhere = { SVC_BASE_URL: 'http://127.0.0.1:9' };
  for (const env of [{}, sharedLedger(machine.path('other')), elsewhere])
    expect(await doctor(env)).toMatchObject({ result: 'failed', found: expect.stringContaining('nothing was sent') });
  expect(await doctor({})).toMatchObject({ exit: 3, next: `svc profile set ledger ${machine.path('shared')}` });
  expect(await doctor({ SVC_LEDGER: machine.path('other') })).toMatchObject({
    found: expect.stringContaining('other (SVC_LEDGER); nothing was sent'),
    fix: expect.stringContaining(`Set SVC_LEDGER to ${machine.path('shared')} again`),
    next: null,
  });
  fs.symlinkSync(machine.path('shared'), machine.path('link'));
  expect(await doctor({ SVC_LEDGER: machine.path('link') })).toMatchObject({ result: 'ok' });
  const failed = { exit: 3, result: 'failed' };
  const [tenant = ''] = fs.readdirSync(machine.path('shared'));
  fs.renameSync(machine.path(`shared/${tenant}`), machine.path('old'));
  const found = `this machine used the ledger in ${machine.path('shared')}, and nothing of it is there; nothing was sent`;
  expect(await doctor(shared)).toMatchObject({ ...failed, found });
  expect(await doctor({ ...shared, ...elsewhere })).toMatchObject({ result: 'failed', found });
  fs.rmSync(machine.path('shared'), { recursive: true });
  expect(await doctor(shared)).toMatchObject({ ...failed, found: expect.stringContaining('there is no directory') });
  fs.mkdirSync(machine.path('shared'));
  expect(await doctor(shared)).toMatchObject({ ...failed, found });
});

it('svc doctor and a dry run fail where an entry is cut of which this machine has a copy, and warn once it is removed', async () => {
  const machine = await openMachine();
  const shared = sharedLedger(machine.path('shared'));
  succeeded(await machine.svc('au submit tokens.csv --cycle 2026-12 --wait', shared));
  fs.writeFileSync(machine.path('work/more.csv'), `${REQUEST_COLUMNS.join(',')}\none-more,,,\n`);
  const plan = 'au submit more.csv --cycle 2026-12 --dry-run';
  succeeded(await machine.svc(plan, shared));
  const [tenant = ''] = fs.readdirSync(machine.path('shared'));
  const cycle = machine.path(`shared/${tenant}/cycles/2026-12`);
  const entries = fs.readdirSync(cycle).filter((name) => name.endsWith('.json'));
  const file = path.join(cycle, entries.toSorted().at(-1) ?? '');
  fs.truncateSync(file, 20);
  ended(await machine.svc(plan, shared), 3, { error: { object: file } });
  // Rows that the cycle has need no entry.
  succeeded(await machine.svc('au submit tokens.csv --cycle 2026-12 --dry-run', shared));
  const finding = async () => {
    const { code, stdout } = await machine.svc('doctor -o json', shared);
    const findings = JSON.parse(stdout) as { check: string; result: string; found: string }[];
    return { exit: code, ...findings.find(({ check }) => check === 'ledger') };
  };
  expect(await finding()).toMatchObject({ exit: 3, found: expect.stringContaining(`${file}: it is cut`) });
  fs.rmSync(file);
  expect(await finding()).toMatchObject({ result: 'warning', found: expect.stringContaining('00000003.json') });
  expect(fs.existsSync(file)).toBe(false);
});
