import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { captureResponse } from '../../../src/emulator/faults/intercept.ts';
import { ended, rowOf, succeeded } from '../../support/run-here.ts';
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
    ended(await machine.svc(`${SUBMIT} --wait`), 12);
    const [job = ''] = machine.jobs();
    ended(
      await machine.svc(`au download ${job} --accept-unproven --out results.csv`),
      0,
      'were not compared with the tokens of',
      'they were accepted unproven',
      { row: { compared: false } },
    );
    updatedFile(machine, machine.path('work/results.csv'));
    ended(await machine.svc('au submit next.csv --cycle 2026-11'), 0, { uploads: 1, row: { status: 'nothing_new' } });
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
    ended(await machine.svc(`${SUBMIT} --wait`), 12);
    const [job = ''] = machine.jobs();
    rowOf(await machine.svc(`au download ${job} --accept-unproven --out results.csv`));
    ended(await machine.svc(`${SUBMIT} --wait`), 12, { error: { next: 'svc au download <job> --out <file>' } });
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
    ended(await machine.svc(`${SUBMIT} --wait`), 12);
    const [job = ''] = machine.jobs();
    rowOf(await machine.svc(`au download ${job} --accept-unproven --out results.csv`));
    ended(await machine.svc(`${SUBMIT} --wait`), 0, { row: { results: { updated: 0, errors: 0 } } });
  });

  it('results of a job that the operator accepts unproven do not count as compared among those of its cycle', async () => {
    const machine = await openMachine();
    otherTag(machine);
    ended(await machine.svc(`${SUBMIT} --wait`), 12);
    const [job = ''] = machine.jobs();
    rowOf(await machine.svc(`au download ${job} --accept-unproven --out results.csv`));
    const { results } = rowOf(await machine.svc('au resume 2026-11 --out all.csv'));
    expect(results).toMatchObject({ compared: false });
  });

  it('the command that accepts unproven results of a job keeps the file that they were wanted in', async () => {
    const machine = await openMachine();
    otherTag(machine);
    succeeded(await machine.svc(SUBMIT));
    await machine.clock.advance(60_000);
    const [job = ''] = machine.jobs();
    ended(await machine.svc(`au download ${job} --out wanted.csv`), 12, {
      error: { next: `svc au download ${job} --out ${machine.path('work/wanted.csv')} --accept-unproven` },
    });
  });
});
