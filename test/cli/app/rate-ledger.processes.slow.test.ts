import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KNOWN_RATES, type Pacer } from '../../../src/client/http/pacer.ts';
import { Machine, REQUEST, quiet } from './sharing-processes.ts';

describe('processes that share a key', () => {
  it('R18 and R68: processes that share a key stay under every limit together, though they come at once and some are killed on their way', async () => {
    const lives = fc.array(
      fc.record({
        requests: fc.nat(60),
        after: fc.nat(20_000),
        latency: fc.nat(2_000),
        isKilled: fc.boolean(),
        // The number of other processes that send a request between each look at the ledger and the addition to it.
        between: fc.array(fc.nat(6), { maxLength: 20 }),
      }),
      { minLength: 2, maxLength: 5 },
    );
    await fc.assert(
      fc.asyncProperty(lives, async (processes) => {
        const machine = new Machine();
        const { clock } = machine;
        const sent: number[] = [];
        const others: Promise<void>[] = [];
        const sendOne = async (pacer: Pacer, latency: number, isKilled = false): Promise<void> => {
          const ended = await pacer.take(REQUEST, undefined, quiet);
          sent.push(clock.now());
          // The service counts a request as soon as it comes; a killed process records no response.
          await clock.sleep(latency);
          if (!isKilled) ended();
        };
        try {
          await Promise.all(
            processes.map(async ({ requests, after, latency, isKilled, between }) => {
              const come = (count: number) => (): void => {
                for (let n = 0; n < count; n += 1) others.push(sendOne(machine.process(), latency));
              };
              const pacer = machine.process(undefined, between.map(come));
              await clock.sleep(after);
              for (let n = 0; n < requests; n += 1) await sendOne(pacer, latency, isKilled && n === requests - 1);
            }),
          );
          await Promise.all(others);
        } finally {
          machine.remove();
        }
        sent.sort((a, b) => a - b);
        expect(sent).toHaveLength(processes.reduce((sum, { requests }) => sum + requests, others.length));
        const tooMany = KNOWN_RATES.filter(({ applies }) => applies(REQUEST.key, REQUEST.path)).flatMap((rule) =>
          sent.filter((at, n) => at - (sent[n - rule.count] ?? -Infinity) < rule.windowMs),
        );
        expect(tooMany).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });
});
