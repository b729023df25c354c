import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { type HereResult, svcHere } from '../../support/run-here.ts';
import { logAgo, type LogServer, messagesIn, startLogServer } from '../commands/log-server.ts';
import { execFileSync } from 'node:child_process';
import { SvcError } from '../../../src/base/errors.ts';
import { IS_SOAK } from '../../support/cases.ts';
import { temporaryDirectory } from '../../support/directory.ts';

let server: LogServer;
let state: string;

beforeEach(async () => {
  state = temporaryDirectory();
  server = await startLogServer();
});

function run(argv: readonly string[], clock: FakeClock, signal?: AbortSignal): Promise<HereResult> {
  const env = { SVC_STATE_DIR: state };
  return svcHere(argv, { baseUrl: new URL(server.url), env, clock, ...(signal && { signal }) });
}

function daysAgo(days: number): Date {
  return new Date(Date.now() - days * 86_400_000);
}

function printedCommand({ stderr }: HereResult): string | undefined {
  return /resume with\n {2}(svc logs tail .*)\n/.exec(stderr)?.[1];
}

const ROUNDS = IS_SOAK ? 200 : 15;

/** A clock that calls a function in every pause. */
class BusyClock extends FakeClock {
  onSleep: () => void = () => undefined;

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.onSleep();
    await super.sleep(ms, signal);
  }
}

/** Splits a command line into words, as a shell does. */
function wordsOf(command: string): string[] {
  const printed = execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' });
  return printed.split('\0').slice(1, -1);
}

describe('the command that svc logs tail prints at its end', () => {
  it('R65: the printed command names a time one overlap back when no state can be written, and entries may repeat', async () => {
    const clock = new FakeClock({ start: Date.now() });
    writeFileSync(join(state, 'tails'), '');
    server.logs.push(logAgo(500_000, 'old'), logAgo(60_000, 'new'));
    const result = await run(['logs', 'tail', '--since', '1h', '--max', '2'], clock);
    expect(result.code).toBe(0);
    expect(result.stderr).toContain('no checkpoint could be kept here');
    const since = /elsewhere .*\n {2}svc logs tail --since (\S+)/.exec(result.stderr)?.[1] ?? '';
    expect(Date.parse(since)).toBeLessThanOrEqual(Date.now() - 180_000 + 1_000);
    // After the first entry, and not the time at which the tail began.
    expect(Date.parse(since)).toBeGreaterThan(Date.now() - 500_000);
  });

  it('R31: a tail that runs often enough finds no gap on a quiet log, and nor does the second command that it prints', async () => {
    const hour = 3_600_000;
    const quiet = ['--strict', '--idle-exit', '20s'];
    const runAfter = (hours: number, argv: readonly string[]): Promise<HereResult> => {
      server.aheadMs = hours * hour;
      return run([...argv, ...quiet], new FakeClock({ start: Date.now() + hours * hour }));
    };
    const tail = ['logs', 'tail', '--checkpoint', join(state, 'tail.json')];
    server.logs.push(logAgo(60_000, 'old'));
    await runAfter(0, [...tail, '--since', '1h']);
    await runAfter(20, tail);
    const last = await runAfter(40, tail);
    const [, command = ''] = /loses none\) with\n {2}svc (.*)\n/.exec(last.stderr) ?? [];
    for (const { code, stderr } of [last, await runAfter(50, command.split(' '))])
      expect([code, stderr]).toEqual([0, expect.not.stringContaining('entries may be missing')]);
  });

  it('R65: the second command that is printed goes on from a time, with the filters and without a file', async () => {
    const clock = new FakeClock({ start: Date.now() });
    server.logs.push(logAgo(60_000, 'one'), logAgo(50_000, 'two'));
    const filters = ['--entity-type', 'token', '--overlap', '5m'];
    const { stderr } = await run(['logs', 'tail', '--since', '1h', '--max', '1', ...filters], clock);
    const [, command = ''] = /may repeat entries of the last 5m, loses none\) with\n {2}svc (.*)\n/.exec(stderr) ?? [];
    expect(command).toMatch(/^logs tail --since \S+Z --entity-type token --overlap 300s$/);
    const again = await run([...command.split(' '), '--max', '2'], clock);
    expect(messagesIn(again.stdout)).toEqual(expect.arrayContaining(['two']));
  });

  it('the checkpoint of the printed command is kept for seven days after its last use', async () => {
    const clock = new FakeClock({ start: Date.now() });
    const tails = join(state, 'tails');
    mkdirSync(tails);
    for (const [name, days] of [['used.json', 6] as const, ['unused.json', 8] as const]) {
      for (const file of [join(tails, name), join(tails, `${name}.lock`)]) writeFileSync(file, '{}');
      utimesSync(join(tails, name), daysAgo(days), daysAgo(days));
      utimesSync(join(tails, `${name}.lock`), daysAgo(9), daysAgo(9));
    }
    server.logs.push(logAgo(60_000, 'one'));
    const result = await run(['logs', 'tail', '--since', '1h', '--max', '1'], clock);
    const kept = readdirSync(tails).filter((name) => name.startsWith('2'));
    expect(readdirSync(tails).toSorted()).toEqual([...kept, 'used.json', 'used.json.lock'].toSorted());
    expect(kept).toHaveLength(1);
    expect(printedCommand(result)).toBe(`svc logs tail --checkpoint ${join(tails, kept[0] ?? '')}`);
  });
});

describe('the command that svc logs tail prints at its end', () => {
  it(`R65: the printed command, typed literally ${ROUNDS} times while late entries arrive, neither loses nor repeats one`, async () => {
    const clock = new BusyClock({ start: Date.now() });
    const expected: string[] = [];
    let count = 0;
    const produce = (): void => {
      server.aheadMs = clock.now() - Date.now();
      for (let index = 0; index < 4; index += 1) {
        count += 1;
        const ageMs = index === 0 ? 0 : (count * 7_919) % 110_000;
        const message = `it's ${count - (count % 5 === 1 ? 1 : 0)}`;
        server.logs.push(logAgo(ageMs - server.aheadMs, message), logAgo(ageMs - server.aheadMs, 'other'));
        expected.push(message);
      }
    };
    const filters = ['--entity-type', 'token', '--grep', "it's", '--fields', 'created_at,message'];
    let words = ['logs', 'tail', '--since', '10m', ...filters, '-o', 'jsonl'];
    const found: string[] = [];
    const unresumable: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const ended = new AbortController();
      const stop = (): void => ended.abort(new SvcError('interrupted', 'interrupted'));
      let pauses = 0;
      clock.onSleep = () => {
        produce();
        if ((pauses += 1) > round % 4) stop();
      };
      // Every third tail ends after some entries. The others are interrupted, in a pause or anywhere.
      const most = round % 3 === 0 ? ['--max', String(1 + (round % 7))] : [];
      const timer = round % 3 === 1 ? setTimeout(stop, (round * 7) % 60) : undefined;
      const result = await run([...words, ...most], clock, ended.signal);
      clearTimeout(timer);
      found.push(...messagesIn(result.stdout));
      const command = printedCommand(result);
      if (command !== undefined) words = wordsOf(command);
      else unresumable.push(result.stdout);
      produce();
    }
    clock.onSleep = () => (server.aheadMs = clock.now() - Date.now());
    found.push(...messagesIn((await run([...words, '--idle-exit', '30s'], clock)).stdout));
    expect(unresumable.join('')).toBe('');
    expect(found.toSorted()).toEqual(expected.toSorted());
    expect(found.length).toBeGreaterThan(ROUNDS * 5);
  });
});
