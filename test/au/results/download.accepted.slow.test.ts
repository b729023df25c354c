import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { captureResponse } from '../../../src/emulator/faults/intercept.ts';
import { errorIn, rowOf, succeeded } from '../../support/run-here.ts';
import { type Machine, openMachine } from '../commands/machine.ts';

const SUBMIT = 'au submit tokens.csv --cycle 2026-11';

/** Makes the store send results with an ETag that looks like an MD5 and is not. */
function otherTag(machine: Machine): void {
  machine.fault = (incoming, outgoing, proceed) => {
    if (incoming.url?.startsWith('/store/results/'))
      captureResponse(outgoing, (body) => outgoing.setHeader('etag', `"${'0'.repeat(32)}"`).end(body));
    proceed();
  };
}

/** Writes a request file of the new tokens in results. */
function updatedFile(machine: Machine, results: string): void {
  const [head = '', ...rows] = readFileSync(results, 'utf8').trimEnd().split('\n');
  const column = head.split(',').indexOf('new_token');
  const tokens = rows.map((row) => row.split(',')[column] ?? '').filter((token) => token !== '');
  expect(tokens.length).toBeGreaterThan(0);
  const [header = ''] = readFileSync(machine.path('work/tokens.csv'), 'utf8').split('\n');
  writeFileSync(machine.path('work/next.csv'), [header, ...tokens.map((token) => `${token},,,`), ''].join('\n'));
}

describe('results that the operator accepts unproven', () => {
  it('R85: results that the operator accepts unproven keep the tokens that they made out of the cycle', async () => {
    const machine = await openMachine();
    otherTag(machine);
    expect(await machine.svc(`${SUBMIT} --wait`)).toMatchObject({ code: 12 });
    const [job = ''] = machine.jobs();
    const taken = succeeded(await machine.svc(`au download ${job} --accept-unproven --out results.csv`));
    expect(JSON.parse(taken.stdout)).toMatchObject({ compared: false });
    expect(taken.stderr).toContain('were not compared with the tokens of');
    expect(taken.stderr).toContain('they were accepted unproven');
    updatedFile(machine, machine.path('work/results.csv'));
    const { stdout } = succeeded(await machine.svc('au submit next.csv --cycle 2026-11'));
    expect(JSON.parse(stdout)).toMatchObject({ status: 'nothing_new' });
    expect(machine.uploads()).toBe(1);
  });

  it('results that the operator accepts unproven and that are no CSV table are refused with the command that accepts them', async () => {
    const machine = await openMachine();
    machine.fault = (incoming, outgoing, proceed) => {
      if (incoming.url?.startsWith('/store/results/'))
        captureResponse(outgoing, () => {
          outgoing.setHeader('content-length', 4);
          outgoing.setHeader('etag', '"rewritten"').end('"a"b');
        });
      proceed();
    };
    expect(await machine.svc(`${SUBMIT} --wait`)).toMatchObject({ code: 12 });
    const [job = ''] = machine.jobs();
    rowOf(await machine.svc(`au download ${job} --accept-unproven --out results.csv`));
    const shown = await machine.svc(`${SUBMIT} --wait`);
    expect(shown.code, shown.stderr).toBe(12);
    expect(errorIn(shown)).toMatchObject({ next: 'svc au download <job> --force' });
  });

  it('R94: empty results that the operator accepts are accepted, and submit does not ask for another download', async () => {
    const machine = await openMachine();
    machine.fault = (incoming, outgoing, proceed) => {
      if (incoming.url?.startsWith('/store/results/'))
        captureResponse(outgoing, () => {
          outgoing.setHeader('content-length', 0);
          outgoing.setHeader('etag', '"rewritten"').end();
        });
      proceed();
    };
    expect(await machine.svc(`${SUBMIT} --wait`)).toMatchObject({ code: 12 });
    const [job = ''] = machine.jobs();
    rowOf(await machine.svc(`au download ${job} --accept-unproven --out results.csv`));
    const shown = succeeded(await machine.svc(`${SUBMIT} --wait`));
    expect(JSON.parse(shown.stdout)).toMatchObject({ results: { updated: 0, errors: 0 } });
  });

  it('results of a job that the operator accepts unproven do not count as compared among those of its cycle', async () => {
    const machine = await openMachine();
    otherTag(machine);
    expect(await machine.svc(`${SUBMIT} --wait`)).toMatchObject({ code: 12 });
    const [job = ''] = machine.jobs();
    rowOf(await machine.svc(`au download ${job} --accept-unproven --out results.csv`));
    const { results } = rowOf(await machine.svc('au resume 2026-11 --out all.csv'));
    expect(results).toMatchObject({ compared: false });
  });

  it('the command that accepts unproven results of a job keeps the file that they were wanted in', async () => {
    const machine = await openMachine();
    otherTag(machine);
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
    await machine.clock.advance(60_000);
    const [job = ''] = machine.jobs();
    const refused = await machine.svc(`au download ${job} --out wanted.csv`);
    expect([refused.code, errorIn(refused)['next']], refused.stderr).toEqual([
      12,
      `svc au download ${job} --out ${machine.path('work/wanted.csv')} --accept-unproven`,
    ]);
  });
});
