import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { captureResponse } from '../../../src/emulator/faults/intercept.ts';
import { openMachine } from '../commands/machine.ts';
import { refuseWith } from '../support.ts';
import { ended, succeeded } from '../../support/run-here.ts';

const SUBMIT = 'au submit tokens.csv --cycle 2026-11 --wait';
const MISSING = '<Error><Code>NoSuchKey</Code><Message>The object does not exist.</Message></Error>';

describe('results as stores send them', () => {
  it('R94: results that the store does not have yet are waited for', async () => {
    const machine = await openMachine();
    let looks = 0;
    machine.fault = (incoming, outgoing, proceed) => {
      const isLook = incoming.url?.startsWith('/store/results/') === true;
      if (isLook && (looks += 1) <= 4) refuseWith(404, MISSING)(incoming, outgoing, proceed);
      else proceed();
    };
    succeeded(await machine.svc(SUBMIT));
    expect(looks).toBe(5);
  });

  it('R94: results that the store never has are waited for at least five minutes', async () => {
    const machine = await openMachine();
    machine.fault = (incoming, outgoing, proceed) => {
      if (incoming.url?.startsWith('/store/results/')) refuseWith(404, MISSING)(incoming, outgoing, proceed);
      else proceed();
    };
    const begun = machine.clock.now();
    ended(await machine.svc(SUBMIT), 5);
    expect(machine.clock.now() - begun).toBeGreaterThanOrEqual(300_000);
  });

  it('R94: svc au download also waits for results that the store does not have yet, and says so', async () => {
    const machine = await openMachine();
    await machine.svc('au submit tokens.csv --cycle 2026-11');
    let looks = 0;
    machine.fault = (incoming, outgoing, proceed) => {
      const isLook = incoming.url?.startsWith('/store/results/') === true;
      if (isLook && (looks += 1) <= 2) refuseWith(404, MISSING)(incoming, outgoing, proceed);
      else proceed();
    };
    const { id } = JSON.parse((await machine.svc('au jobs -o jsonl')).stdout.split('\n')[0]!) as { id: string };
    const { stderr } = succeeded(await machine.svc(`au download ${id} --out again.csv`));
    expect(looks).toBe(3);
    expect(stderr).toContain('its results are not in the store yet');
  });

  it('R94: results that are stored compressed are decompressed', async () => {
    const machine = await openMachine();
    machine.fault = (incoming, outgoing, proceed) => {
      if (incoming.url?.startsWith('/store/results/'))
        captureResponse(outgoing, (body) => {
          const packed = gzipSync(body);
          outgoing.setHeader('content-length', packed.length);
          outgoing.setHeader('content-encoding', 'gzip').end(packed);
        });
      proceed();
    };
    ended(await machine.svc(SUBMIT), 0, { row: { results: { compared: true } } });
  });
});
