import { writeFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FaultServer } from '../../support/fault-server.ts';
import { answer } from '../../support/fault-steps.ts';
import { svcHere } from '../../support/run-here.ts';
import { Home } from '../../support/svc.ts';

/** A pipe whose reader went away before the first write. */
function closedPipe(): Writable {
  return new Writable({
    write: (_chunk, _encoding, taken) => taken(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
  });
}

describe('a command whose reader has gone', () => {
  it.each([
    [10, 'tenant usage --warn-at 1%'],
    [10, '3ds run --card Successful_Frictionless --expect failed'],
    [5, 'au status 5f0c1d2e-0000-4000-8000-000000000000'],
    [0, 'tenant show'],
  ])('R51: a command whose reader has gone ends with %i for its work: svc %s', async (code, line) => {
    const home = new Home();
    const words = ['--sandbox', ...line.split(' ').map((word) => word.replace('_', ' '))];
    const read = await svcHere(words, { home: home.path });
    expect(read.code, read.stderr).toBe(code);
    expect((await svcHere(words, { home: home.path, stdout: closedPipe() })).code).toBe(code);
  });

  it('R51: a list whose reader has gone ends quietly with 0', async () => {
    const { code, stderr } = await svcHere(['--sandbox', 'logs', '-n', '3'], { stdout: closedPipe() });
    expect([code, stderr]).toEqual([0, '']);
  });

  it('R70: a replay whose reader has gone sends every event', async () => {
    const home = new Home();
    const target = await FaultServer.start([answer(200)]);
    onTestFinished(() => target.close());
    const events = Array.from({ length: 6 }, (_, at) => ({
      received_at: '2026-01-05T12:00:00Z',
      id: `e${at}`,
      type: 't',
      body: '{}',
    }));
    writeFileSync(home.file('e.jsonl'), events.map((event) => `${JSON.stringify(event)}\n`).join(''));
    const line = ['events', 'replay', home.file('e.jsonl'), '--forward-to', target.url.href];
    const { code, stderr } = await svcHere(line, { home: home.path, stdout: closedPipe() });
    expect([code, target.whole('POST').length], stderr).toEqual([0, 6]);
  });
});
