import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { FakeClock } from '../../support/clock.ts';
import { IS_SOAK } from '../../support/cases.ts';
import { type HereResult, svcHere } from '../../support/run-here.ts';
import { logAgo, type LogServer, startLogServer } from '../commands/log-server.ts';

const ROUNDS = IS_SOAK ? 200 : 15;
let server: LogServer;
let state: string;

beforeEach(async () => {
  state = mkdtempSync(join(tmpdir(), 'svc-tails-'));
  server = await startLogServer();
});
afterEach(async () => {
  await server.close();
  rmSync(state, { recursive: true, force: true });
});

/** A clock that calls a function in every pause. */
class BusyClock extends FakeClock {
  onSleep: () => void = () => undefined;

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.onSleep();
    await super.sleep(ms, signal);
  }
}

function run(argv: readonly string[], clock: FakeClock, signal?: AbortSignal): Promise<HereResult> {
  const env = { SVC_STATE_DIR: state };
  return svcHere(argv, { baseUrl: new URL(server.url), env, clock, ...(signal && { signal }) });
}

/** Splits a command line into words, as a shell does. */
function wordsOf(command: string): string[] {
  const printed = execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' });
  return printed.split('\0').slice(1, -1);
}

function printedCommand({ stderr }: HereResult): string | undefined {
  return /resume with\n {2}(svc logs tail .*)\n/.exec(stderr)?.[1];
}

function messagesOf({ stdout }: HereResult): string[] {
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => (JSON.parse(line) as { message: string }).message);
}

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
      found.push(...messagesOf(result));
      const command = printedCommand(result);
      if (command !== undefined) words = wordsOf(command);
      else unresumable.push(result.stdout);
      produce();
    }
    clock.onSleep = () => (server.aheadMs = clock.now() - Date.now());
    found.push(...messagesOf(await run([...words, '--idle-exit', '30s'], clock)));
    expect(unresumable.join('')).toBe('');
    expect(found.toSorted()).toEqual(expected.toSorted());
    expect(found.length).toBeGreaterThan(ROUNDS * 5);
  });
});
