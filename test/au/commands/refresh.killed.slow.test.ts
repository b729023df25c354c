import { EventEmitter, once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Interceptor } from '../../../src/emulator/options.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { openDesk } from './support.ts';

const LINE = 'au refresh export.csv --cycle 2026-12 --fail-on err=60%';

/** A refresh sends fewer requests than this. */
const MOST_REQUESTS = 12;

describe('svc au refresh that is killed', () => {
  it('R74: svc au refresh that is killed at any request goes on by the same command, and uploads nothing twice', async () => {
    const ends = new Set<number | null>();
    for (let killedAt = 1; killedAt <= MOST_REQUESTS; killedAt += 1) {
      const gate = new EventEmitter();
      let arrived = 0;
      const intercept: Interceptor = (_incoming, _outgoing, proceed) => {
        arrived += 1;
        if (arrived === killedAt) gate.emit('arrived');
        else proceed();
      };
      const desk = await openDesk({ intercept });
      writeFileSync(desk.home.file('export.csv'), exampleRequestFile());
      const first = desk.start(LINE);
      const ended = once(first, 'exit');
      const isKilled = await Promise.race([once(gate, 'arrived').then(() => true), ended.then(() => false)]);
      if (!isKilled) break;
      first.kill('SIGKILL');
      await ended;
      const second = await desk.svc(`${LINE} --no-wait`);
      // If the whole file was sent before the kill, only time can show that the service did not get it.
      expect([0, 9], `killed at request ${killedAt}: ${second.stderr}`).toContain(second.code);
      ends.add(second.code);
      expect(desk.uploads(), `killed at request ${killedAt}`).toBeLessThanOrEqual(1);
      if (second.code !== 0) continue;
      expect(readdirSync(desk.home.file('refresh/2026-12'))).toEqual(
        expect.arrayContaining(['report.html', 'next.csv']),
      );
      expect(readFileSync(desk.home.file('refresh/2026-12/next.csv'), 'utf8')).toMatch(/^token,/);
    }
    expect(ends).toContain(0);
  });
});
