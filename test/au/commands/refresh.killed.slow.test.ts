import { EventEmitter, once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Interceptor } from '../../../src/emulator/options.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { type Desk, openDesk } from './support.ts';

const LINE = 'au refresh export.csv --cycle 2026-12 --fail-on err=60%';

/** A refresh sends fewer requests than this. */
const MOST_REQUESTS = 12;

/** A module that kills its process before it gives a file below `refresh/` its name, for the time that `KILL_AT` says. */
const KILLER = `
import fs from 'node:fs';
let left = Number(process.env.KILL_AT);
for (const name of ['renameSync', 'linkSync']) {
  const real = fs[name];
  fs[name] = (from, to) => {
    if (/[/]refresh[/]/.test(String(to)) && !String(to).includes('.lock') && --left === 0) process.kill(process.pid, 'SIGKILL');
    return real(from, to);
  };
}
`;

/** A refresh gives fewer names to files than this. */
const MOST_NAMES = 40;

/** Runs a command line that is killed before it names a file for the given time. Returns whether it was killed. */
async function killedAt(desk: Desk, at: number, line: string): Promise<boolean> {
  const killer = desk.home.file('killer.mjs');
  writeFileSync(killer, KILLER);
  const { signal } = await desk.svc(line, {
    NODE_OPTIONS: `--import ${pathToFileURL(killer).href}`,
    KILL_AT: String(at),
  });
  return signal === 'SIGKILL';
}

describe('svc au refresh that is killed while it prepares an export again', () => {
  it('svc au refresh that is killed while it prepares a mended export goes on by the same command, with the kept columns of each row', async () => {
    let at = 1;
    for (; at <= MOST_NAMES; at += 1) {
      let mayCreate = false;
      const desk = await openDesk({
        intercept: (_incoming, outgoing, proceed) => (mayCreate ? proceed() : outgoing.writeHead(401).end()),
      });
      const line = `${LINE} --keep Customer`;
      const rows = exampleRequestFile().trimEnd().split('\n');
      const exported = rows.map((row, index) => `${row},${index === 0 ? 'Customer' : `C-${index}`}`);
      writeFileSync(desk.home.file('export.csv'), exported.slice(0, 5).join('\n'));
      expect(await desk.svc(line)).toMatchObject({ code: 4 });
      writeFileSync(desk.home.file('export.csv'), exported.join('\n'));
      const isKilled = await killedAt(desk, at, line);
      mayCreate = true;
      const done = await desk.svc(line);
      expect(done.code, `killed at name ${at}: ${done.stderr}`).toBe(0);
      const kept = readFileSync(desk.home.file('refresh/2026-12/request.keep.csv'), 'utf8').trimEnd().split('\n');
      expect(kept, `killed at name ${at}`).toHaveLength(rows.length);
      expect(desk.uploads()).toBe(1);
      if (!isKilled) break;
    }
    expect(at).toBeGreaterThan(3);
  });
});

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
      const first = desk.start(`${LINE} --next`);
      const ended = once(first, 'exit');
      const isKilled = await Promise.race([once(gate, 'arrived').then(() => true), ended.then(() => false)]);
      if (!isKilled) break;
      first.kill('SIGKILL');
      await ended;
      const second = await desk.svc(`${LINE} --next --no-wait`);
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
