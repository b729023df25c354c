import fs from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { svcHere } from '../../support/run-here.ts';
import { type LogServer, startLogServer } from '../commands/log-server.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const START = Date.UTC(2026, 2, 1, 12);
const YEAR_MS = 365 * 86_400_000;

let server: LogServer;
let home: string;

beforeEach(async () => {
  home = temporaryDirectory();
  server = await startLogServer();
  server.now = new Date(START).toISOString();
});

/** Runs a tail of 20 seconds, during which the service logs an entry, and returns the position in its checkpoint. */
async function positionAfter(machineMs: number): Promise<number> {
  const clock = new FakeClock({ start: START + machineMs });
  const argv = ['logs', 'tail', '--checkpoint', 'tail.json', '--for', '20s'];
  await svcHere(argv, { baseUrl: new URL(server.url), home, clock });
  const kept = JSON.parse(fs.readFileSync(path.join(home, 'tail.json'), 'utf8')) as { settled: string };
  return Date.parse(kept.settled);
}

describe('the beginning of a tail', () => {
  it('R28: a tail begins at the present although the Date header of its first response is of 2030', async () => {
    server.aheadMs = 4 * YEAR_MS;
    server.onList = () => void (server.aheadMs = 0);
    expect(await positionAfter(0)).toBe(START);
  });

  it.each([-26, 26])("R25: a tail begins at the service's present on a machine that is %i hours off", async (hours) => {
    expect(Math.abs((await positionAfter(hours * 3_600_000)) - START)).toBeLessThanOrEqual(1_000);
  });
});
