import { readFileSync, renameSync, rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openQuickDesk, type QuickDesk } from '../commands/support.ts';

async function completed(): Promise<{ desk: QuickDesk; run: string }> {
  const desk = await openQuickDesk({ pickupMs: 0 });
  expect(await desk.svc('au submit tokens.csv --wait --out results.csv')).toMatchObject({ code: 0 });
  return { desk, run: desk.runIds()[0] ?? '' };
}

it('R80: the files of a run are what au report --run reads, although the request file is gone', async () => {
  const { desk, run } = await completed();
  const named = await desk.svc('au report results.csv --request tokens.csv');
  rmSync(desk.home.file('tokens.csv'));
  const ofRun = await desk.svc(`au report --run ${run}`);
  expect(ofRun).toMatchObject({ code: 0 });
  const [expected, read] = [named, ofRun].map(({ stdout }) => JSON.parse(stdout) as Record<string, object>);
  expect(read?.['codes']).toEqual(expected?.['codes']);
  expect(read?.['request']).toEqual({ ...expected?.['request'], file: expect.stringContaining('run-request.csv') });
});

it('R80: the files of a run are what au next --run reads, although the request file is gone', async () => {
  const { desk, run } = await completed();
  await desk.svc('au next tokens.csv results.csv --out named.csv --fail-on err=100%');
  rmSync(desk.home.file('tokens.csv'));
  expect(await desk.svc(`au next --run ${run} --out next.csv --fail-on err=100%`)).toMatchObject({ code: 0 });
  const read = (name: string): string => readFileSync(desk.home.file(name), 'utf8');
  expect(read('next.csv')).toBe(read('named.csv'));
});

it('R80: the files of a run are compared with results that were moved, where these are named', async () => {
  const { desk, run } = await completed();
  renameSync(desk.home.file('results.csv'), desk.home.file('moved.csv'));
  const { code, stdout } = await desk.svc(`au report moved.csv --run ${run}`);
  expect({ code, file: (JSON.parse(stdout) as { file: string }).file }).toEqual({ code: 0, file: 'moved.csv' });
});

it('the files of a run are missed with the command that brings them', async () => {
  const { desk, run } = await completed();
  rmSync(desk.home.file('results.csv'));
  const gone = await desk.svc(`au report --run ${run}`);
  expect(gone).toMatchObject({ code: 1 });
  expect(gone.stderr).toContain(`svc au download ${run} --out <file>`);
  desk.removeCopy(run);
  await desk.svc(`au download ${run} --out again.csv`);
  const copyless = await desk.svc(`au next --run ${run} --out next.csv`);
  expect(copyless).toMatchObject({ code: 1, stderr: expect.stringContaining('has no copy of its request file') });
});

it('the files of a run are to be named where there is no run', async () => {
  const desk = await openQuickDesk();
  expect(await desk.svc('au report')).toMatchObject({ code: 2 });
  expect(await desk.svc('au next tokens.csv')).toMatchObject({ code: 2 });
  expect(await desk.svc('au next tokens.csv --run run-20260101-00000000-0000')).toMatchObject({ code: 2 });
  expect(await desk.svc('au report --run nowhere')).toMatchObject({ code: 5 });
});
