import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { captureResponse } from '../../../src/emulator/faults/intercept.ts';
import { ended, rowOf, succeeded } from '../../support/run-here.ts';
import { type Machine, openMachine } from '../commands/machine.ts';

const SUBMIT = 'au submit tokens.csv --cycle 2026-11';

/** Opens a machine with a submitted job, whose results it does not have yet, and a file that a link may lead to. */
async function submitted(): Promise<{ machine: Machine; results: string; letter: string }> {
  const machine = await openMachine();
  succeeded(await machine.svc(SUBMIT));
  const { results } = machine.files(machine.jobs()[0]!);
  const letter = machine.path('letter');
  writeFileSync(letter, 'dear');
  return { machine, results, letter };
}

it('a link in the place of the results that svc keeps of a job is replaced, and the file that it leads to stays', async () => {
  const { machine, results, letter } = await submitted();
  symlinkSync(letter, results);
  succeeded(await machine.svc(`${SUBMIT} --wait --out results.csv`));
  expect(readFileSync(letter, 'utf8')).toBe('dear');
  expect(lstatSync(results).isFile()).toBe(true);
  expect(readFileSync(results, 'utf8')).toBe(readFileSync(machine.path('work/results.csv'), 'utf8'));
});

it('a link in the place of the results that svc keeps of a job is replaced by results that the operator accepts', async () => {
  const { machine, results, letter } = await submitted();
  machine.fault = (incoming, outgoing, proceed) => {
    if (incoming.url?.startsWith('/store/results/'))
      captureResponse(outgoing, (body) => outgoing.setHeader('etag', `"${'0'.repeat(32)}"`).end(body));
    proceed();
  };
  ended(await machine.svc(`${SUBMIT} --wait`), 12);
  const [job = ''] = machine.jobs();
  rmSync(results, { force: true });
  symlinkSync(letter, results);
  rowOf(await machine.svc(`au download ${job} --accept-unproven --out results.csv`));
  expect(readFileSync(letter, 'utf8')).toBe('dear');
  expect(lstatSync(results).isFile()).toBe(true);
});

it('a pipe in the place of the results that svc keeps of a job is replaced', async () => {
  const { machine, results } = await submitted();
  execFileSync('mkfifo', [results]);
  succeeded(await machine.svc(`${SUBMIT} --wait --out results.csv`));
  expect(lstatSync(results).isFile()).toBe(true);
});

it('a directory in the place of the results that svc keeps of a job is named, and stays', async () => {
  const { machine, results } = await submitted();
  mkdirSync(results);
  ended(await machine.svc(`${SUBMIT} --wait --out results.csv`), 3, {
    error: { message: `${results} is a directory`, hint: 'Move it away and run the command again.' },
  });
  expect(lstatSync(results).isDirectory()).toBe(true);
});
