import { beforeEach, describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { FakeClock } from '../../support/clock.ts';
import { type HereResult, svcHere } from '../../support/run-here.ts';
import { logAgo, type LogServer, messagesIn, startLogServer } from '../commands/log-server.ts';
import { temporaryDirectory } from '../../support/directory.ts';

let server: LogServer;
let state: string;

beforeEach(async () => {
  state = temporaryDirectory();
  server = await startLogServer();
  for (let index = 40; index >= 1; index -= 1)
    server.logs.push(logAgo(index * 60_000, `entry ${index}`, { operation: index % 4 === 0 ? 'delete' : 'read' }));
});

/** A clock that ends the command during its first pauses. */
class EndingClock extends FakeClock {
  readonly ended = new AbortController();
  pauses = 0;

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if ((this.pauses += 1) > 3) this.ended.abort(new SvcError('interrupted', 'interrupted'));
    await super.sleep(ms, signal);
  }
}

function run(...argv: string[]): Promise<HereResult> {
  const clock = new EndingClock({ start: Date.now() });
  const env = { SVC_STATE_DIR: state };
  return svcHere(argv, { baseUrl: new URL(server.url), env, clock, cwd: state, signal: clock.ended.signal });
}

describe('svc logs tail -n', () => {
  it('svc logs tail -n writes the last entries by time, oldest first, and without a terminal ends after them', async () => {
    const last = await run('logs', 'tail', '-n', '3');
    expect([last.code, messagesIn(last.stdout)]).toEqual([0, ['entry 3', 'entry 2', 'entry 1']]);
    const matching = await run('logs', 'tail', '-n', '3', '--operation', 'delete');
    expect([matching.code, messagesIn(matching.stdout)]).toEqual([0, ['entry 12', 'entry 8', 'entry 4']]);
    const all = await run(
      'logs',
      'tail',
      '--last',
      '100',
      '--exclude-operation',
      'read',
      '--exclude-entity-type',
      'card',
    );
    expect(messagesIn(all.stdout)).toHaveLength(10);
  });

  it.each([
    [['-f'], 130],
    [['--for', '10m'], 0],
    [['--idle-exit', '10m'], 130],
  ])('svc logs tail -n follows after the last entries with %j', async (more, code) => {
    const result = await run('logs', 'tail', '-n', '2', ...more);
    expect([result.code, messagesIn(result.stdout)]).toEqual([code, ['entry 2', 'entry 1']]);
  });

  it('svc logs -f does what svc logs tail -n does, with the same filters', async () => {
    const result = await run('logs', '-f', '-n', '2', '--operation', 'delete');
    expect(result.code).toBe(130);
    expect(messagesIn(result.stdout)).toEqual(['entry 8', 'entry 4']);
    expect(messagesIn((await run('logs', '--follow', '--since', '150s')).stdout)).toEqual(['entry 2', 'entry 1']);
    expect(messagesIn((await run('logs', '-f')).stdout)).toEqual([]);
  });

  it('R65: svc logs tail -n prints the command that resumes right after the last entries', async () => {
    server.logs.push(logAgo(30_000, 'twin'), logAgo(30_000, 'twin'), logAgo(90_000, 'before'));
    const first = await run('logs', 'tail', '-n', '2');
    expect(messagesIn(first.stdout)).toEqual(['twin', 'twin']);
    server.logs.push(logAgo(30_000, 'twin'), logAgo(10_000, 'news'));
    const words = /resume with\n {2}svc (.*)\n/.exec(first.stderr)?.[1]?.split(' ') ?? [];
    expect(messagesIn((await run(...words)).stdout)).toEqual(['twin', 'news']);
  });

  it('svc logs tail -n --checkpoint saves its position, and the next run returns what was logged since and ends', async () => {
    const argv = ['logs', 'tail', '-n', '2', '--checkpoint', 'last.json'];
    expect(messagesIn((await run(...argv)).stdout)).toEqual(['entry 2', 'entry 1']);
    server.logs.push(logAgo(10_000, 'one'), logAgo(9_000, 'two'), logAgo(8_000, 'three'));
    const second = await run(...argv);
    expect([second.code, messagesIn(second.stdout)]).toEqual([0, ['one', 'two', 'three']]);
    expect(second.stderr).toContain('(--last ignored)');
  });

  it('svc logs tail -n ends after --max entries, including the last ones', async () => {
    const ended = await run('logs', 'tail', '-n', '2', '-f', '--max', '2');
    expect([ended.code, messagesIn(ended.stdout)]).toEqual([0, ['entry 2', 'entry 1']]);
  });

  it.each([
    [['tail', '-n', '3', '--max', '2'], '--max must not be less than --last'],
    [['tail', '-n', '3', '--since', '1h'], 'cannot be used with'],
    [['tail', '-n', '10001'], 'from 1 to 10000'],
    [['-f', '-n', '10001'], 'at most 10000'],
    [['-f', '-n', '3', '--since', '1h'], 'where --follow begins'],
    [['-f', '--until', '1h'], 'cannot be used with'],
    [['-f', '--all'], 'cannot be used with'],
    [['tail', '--hide-own-reads', '--checkpoint', 'a.json'], 'cannot be used with'],
    [['tail', '--hide-own-reads', '--to', 'otlp+http://127.0.0.1:1'], 'cannot be used with'],
    [['search', 'a', '--hide-own-reads'], 'unknown option'],
    [['stats', 'a', '--hide-own-reads'], 'is about entries read from the service'],
    [['archive', 'a', '--hide-own-reads'], 'unknown option'],
  ])('svc logs refuses %j before any request', async (argv, words) => {
    expect(await run('logs', ...argv)).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
    expect(server.requests).toBe(0);
  });
});
