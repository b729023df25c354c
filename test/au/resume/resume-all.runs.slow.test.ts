import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { openMachine } from '../commands/machine.ts';
import { openQuickDesk } from '../commands/support.ts';

it('svc au resume --wait waits for every open run, and writes the results of each', async () => {
  const desk = await openQuickDesk({ processingMs: 3_600_000 });
  const [header = '', ...rows] = exampleRequestFile().trimEnd().split('\n');
  for (const [name, part] of [
    ['one.csv', rows.slice(0, 9)],
    ['two.csv', rows.slice(9)],
  ] as const) {
    writeFileSync(desk.home.file(name), `${[header, ...part].join('\n')}\n`);
    expect(await desk.svc(`au submit ${name}`)).toMatchObject({ code: 0 });
  }
  expect(await desk.svc('au resume')).toMatchObject({ code: 11 });
  const waited = await desk.svc('au resume --wait');
  expect(waited.code, waited.stderr).toBe(0);
  const outcomes = waited.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly outcome: string });
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['done', 'done']);
  expect(['one', 'two'].map((name) => existsSync(desk.home.file(`${name}.results.csv`)))).toEqual([true, true]);
});

it('svc au resume counts the open runs of other profiles, which it leaves alone', async () => {
  const machine = await openMachine();
  const [header = ''] = exampleRequestFile().split('\n');
  writeFileSync(machine.path('work/more.csv'), `${header}\none-more,,,\n`);
  for (const file of ['tokens.csv', 'more.csv'])
    expect(await machine.svc(`au submit ${file} --profile other`)).toMatchObject({ code: 0 });
  const { code, stderr } = await machine.svc('au resume');
  expect(code, stderr).toBe(0);
  expect(stderr).toContain('no open runs of this profile; 2 open runs of profile other');
  const others = await machine.svc('au resume --profile other');
  expect(others.code, others.stderr).toBe(0);
  expect(others.stdout.trimEnd().split('\n')).toHaveLength(2);
});

it('svc au resume goes on with a run although its file has other rows by now, and was submitted again', async () => {
  const machine = await openMachine();
  expect(await machine.svc('au submit tokens.csv')).toMatchObject({ code: 0 });
  const [header = ''] = exampleRequestFile().split('\n');
  writeFileSync(machine.path('work/tokens.csv'), `${header}\none-more,,,\n`);
  expect(await machine.svc('au submit tokens.csv')).toMatchObject({ code: 0 });
  const { code, stdout, stderr } = await machine.svc('au resume');
  expect(code, stderr).toBe(0);
  const rows = stdout.trimEnd().split('\n');
  expect(rows.map((row) => JSON.parse(row) as object)).toMatchObject([
    { rows: 1, outcome: 'done' },
    { rows: 40, outcome: 'done' },
  ]);
});

it('R72: svc au resume ends with 11 for a job of the own ledger that no run here has: sent with svc au upload, or of a lost run', async () => {
  const { svc, home } = await openQuickDesk({ processingMs: 3_600_000 });
  const created = JSON.parse((await svc('au create')).stdout) as { readonly id: string };
  const uploaded = await svc(`au upload ${created.id} tokens.csv`);
  expect(uploaded.code, uploaded.stderr).toBe(0);
  const open = await svc('au resume');
  const [, name = ''] = /svc au resume (file-\w+) --wait/.exec(open.stderr) ?? [];
  expect([open.code, name], open.stderr).toEqual([11, expect.stringMatching(/^file-/)]);
  expect(await svc(`au resume ${name} --wait`)).toMatchObject({ code: 0 });
  const none = await svc('au resume');
  expect(none.code, none.stderr).toBe(0);
  const [header = ''] = exampleRequestFile().split('\n');
  writeFileSync(home.file('more.csv'), `${header}\none-more,,,\n`);
  expect(await svc('au submit more.csv --cycle 2026-12')).toMatchObject({ code: 0 });
  rmSync(home.file('.local/state/svc/runs'), { recursive: true });
  const lost = await svc('au resume');
  expect([lost.code, lost.stderr], lost.stderr).toEqual([11, expect.stringContaining('svc au resume 2026-12 --wait')]);
});

it('svc au resume goes on with an open run that is older than a pruned one', async () => {
  const machine = await openMachine();
  expect(await machine.svc('au submit tokens.csv')).toMatchObject({ code: 0 });
  const [open = ''] = machine.runIds();
  await machine.clock.advance(60_000);
  const [header = ''] = exampleRequestFile().split('\n');
  writeFileSync(machine.path('work/more.csv'), `${header}\none-more,,,\n`);
  expect(await machine.svc('au submit more.csv --wait')).toMatchObject({ code: 0 });
  const pruned = `state/runs/${machine.runIds().find((run) => run !== open)}`;
  const record = { ...machine.record(pruned), pruned_at: '2026-11-02T04:10:00.000Z' };
  writeFileSync(machine.path(`${pruned}/run.json`), JSON.stringify(record));
  const { code, stdout, stderr } = await machine.svc('au resume');
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ run: open, outcome: 'done' });
});
