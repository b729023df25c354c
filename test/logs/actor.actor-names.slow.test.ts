import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/system.ts';
import { svcHere } from '../support/run-here.ts';
import { Screen } from '../support/screen.ts';
import { logAgo, type LogServer, startLogServer } from './commands/log-server.ts';

const ACTOR = '4707c78a-ef35-487e-a67c-cc101d1d4c49';
const HOUR = 3_600_000;
let server: LogServer;
let home: string;
let asked: number;

beforeEach(async () => {
  home = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-names-'));
  server = await startLogServer();
  asked = 0;
  const actor = { tenant_id: 'tenant-1', actor_id: ACTOR, actor_type: 'application' };
  server.logs.push(
    logAgo(2_000, 'one', { ...actor, entity_id: 'card-1' }),
    logAgo(1_000, 'two', { ...actor, actor_id: 'a-person', actor_type: 'user' }),
  );
  answer([{ id: ACTOR, name: 'Nightly refresh' }]);
});
afterEach(async () => {
  await server.close();
  fs.rmSync(home, { recursive: true, force: true });
});

function answer(found: readonly unknown[] | number, before: () => void = () => undefined): void {
  server.onApplications = () => {
    asked += 1;
    before();
    return found;
  };
}

/** Runs a command on a terminal of 120 columns, and returns the output. */
async function onScreen(
  argv: readonly string[],
  { screen = new Screen(), later = 0, more = {} } = {},
): Promise<string> {
  const clock = { now: () => Date.now() + later, sleep: sleepLong };
  const env = { SVC_PAGER: '', NO_COLOR: '1', ...more };
  const result = await svcHere(argv, { baseUrl: new URL(server.url), home, env, clock, stdout: screen });
  expect(result.code).toBe(0);
  expect(result.stderr).not.toMatch(/application|\b(?:403|500)\b|permission/);
  return screen.text;
}

/** Waits so long that a response always comes first, however busy this machine is. */
function sleepLong(ms: number, signal?: AbortSignal): Promise<void> {
  return systemClock.sleep(ms * 1_000, signal);
}

describe('names of actors in a table on a terminal', () => {
  it('a terminal requests the names of applications after its first page, at most once a day, and shows them at once', async () => {
    const screen = new Screen();
    let shown = 'not requested';
    answer([{ id: ACTOR, name: 'Nightly refresh' }], () => (shown = screen.text));
    expect(await onScreen(['logs'], { screen })).toMatch(/ Nightly refresh  /);
    expect(shown).toBe('');
    expect(await onScreen(['logs'])).toMatch(/ user a-person  /);
    expect(await onScreen(['logs', 'tail', '-n', '2', '--max', '2'])).toContain('Nightly refresh');
    expect(await onScreen(['logs', 'history', 'card-1'])).toContain('Nightly refresh');
    expect(await onScreen(['logs', 'stats'])).toContain('  Nightly refresh  ');
    expect(asked).toBe(1);
    expect(fs.statSync(path.join(home, '.cache/svc/applications.json')).mode & 0o777).toBe(0o600);
    answer([{ id: ACTOR, name: 'Renamed' }]);
    expect(await onScreen(['logs'], { later: 25 * HOUR })).toContain('Renamed');
    expect(asked).toBe(2);
  });
});
