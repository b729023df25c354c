import { EventEmitter, once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Interceptor } from '../../../src/emulator/options.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { type Desk, openDesk } from '../commands/support.ts';

const CYCLE = '--cycle 2026-12';
const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');

function write({ home }: Desk, name: string, rows: readonly string[]): void {
  writeFileSync(home.file(name), [HEADER, ...rows, ''].join('\n'));
}

/** Returns the number of rows sent to the service, according to the records of the runs. */
function rowsSent({ runIds, record }: Desk): number {
  const records = runIds().map(record);
  const sent = records.flatMap(({ parts }) => parts.filter(({ state }) => state !== 'planned'));
  return sent.reduce((sum, { rows }) => sum + rows, 0);
}

describe('two processes with files of one cycle', () => {
  it.each(['', ' --only-new'])('R79: two processes that begin at once send each row once%s', async (options) => {
    const desk = await openDesk();
    write(desk, 'first.csv', ROWS.slice(0, 8));
    write(desk, 'second.csv', ROWS.slice(4, 12).toReversed());
    const lines = ['first.csv', 'second.csv'].map((file) => `au submit ${file} ${CYCLE}${options}`);
    const both = await Promise.all(lines.map((line) => desk.svc(line)));
    for (const { code, stderr } of both) expect([0, 6], stderr).toContain(code);
    expect(both.some(({ code }) => code === 0)).toBe(true);
    expect(rowsSent(desk)).toBe(both.every(({ code }) => code === 0) ? 12 : 8);
    // After both have ended, --only-new sends the remaining rows.
    for (const line of lines) await desk.svc(line.includes('--only-new') ? line : `${line} --only-new`);
    expect(rowsSent(desk)).toBe(12);
  });

  it('R79: a process sees what another is about to send, and other files are not held up', async () => {
    const gate = new EventEmitter();
    const creation = once(gate, 'arrived');
    let isFirst = true;
    const intercept: Interceptor = (incoming, _outgoing, proceed) => {
      if (incoming.method !== 'POST' || !isFirst) return proceed();
      isFirst = false;
      gate.once('open', proceed).emit('arrived');
    };
    const desk = await openDesk({ intercept });
    write(desk, 'first.csv', ROWS.slice(0, 8));
    write(desk, 'second.csv', ROWS.slice(4, 12));
    write(desk, 'third.csv', ROWS.slice(8, 12));
    const first = desk.svc(`au submit first.csv ${CYCLE}`);
    await creation;
    const second = await desk.svc(`au submit second.csv ${CYCLE} --only-new`);
    expect(second.code).toBe(6);
    expect(second.stderr).toMatch(
      /another process is at work on run-\S+ in cycle 2026-12, which may yet send 4 rows of this file/,
    );
    expect(await desk.svc(`au submit third.csv ${CYCLE}`)).toMatchObject({ code: 0 });
    gate.emit('open');
    expect(await first).toMatchObject({ code: 0 });
    expect(await desk.svc(`au submit second.csv ${CYCLE} --only-new`)).toMatchObject({ code: 0 });
    expect(rowsSent(desk)).toBe(12);
  });
});
