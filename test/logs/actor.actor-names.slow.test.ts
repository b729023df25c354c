import fs from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/system.ts';
import { FakeClock } from '../support/clock.ts';
import { errorIn, svcHere } from '../support/run-here.ts';
import { Screen } from '../support/screen.ts';
import { logAgo, type LogServer, startLogServer } from './commands/log-server.ts';
import { temporaryDirectory } from '../support/directory.ts';

const ACTOR = '4707c78a-ef35-487e-a67c-cc101d1d4c49';
let server: LogServer;
let home: string;
let asked: number;

beforeEach(async () => {
  home = temporaryDirectory();
  server = await startLogServer();
  asked = 0;
  const actor = { tenant_id: 'tenant-1', actor_id: ACTOR, actor_type: 'application' };
  server.logs.push(
    logAgo(2_000, 'one', { ...actor, entity_id: 'card-1' }),
    logAgo(1_000, 'two', { ...actor, actor_id: 'a-person', actor_type: 'user' }),
  );
  answer([{ id: ACTOR, name: 'Nightly refresh' }]);
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

const HOUR = 3_600_000;

describe('names of actors in a table on a terminal', () => {
  it('a table shows the short id of an actor whose name does not arrive in time, and never a type alone', async () => {
    server.onApplications = () => undefined;
    const screen = new Screen();
    const clock = new FakeClock({ start: Date.now() });
    const options = {
      baseUrl: new URL(server.url),
      home,
      env: { SVC_PAGER: '', NO_COLOR: '1' },
      stdout: screen,
      clock,
    };
    expect(await svcHere(['logs'], options)).toMatchObject({ code: 0 });
    expect(screen.text).toContain(' application 4707c78a  ');
    expect(screen.text).toContain(' user a-person  ');
  });

  it('a narrow terminal shows short ids, a wide one the whole id of the entity, and --wide all ids', async () => {
    const entity = '3a04dacf-0000-4000-8000-000000000001';
    server.logs.splice(1);
    Object.assign(server.logs[0] ?? {}, { entity_type: 'card', entity_id: entity, operation: 'delete' });
    expect(await onScreen(['logs'], { screen: new Screen(80) })).toMatch(/Z  delete +card 3a04dacf +Nightly refresh  /);
    expect(await onScreen(['logs'])).toMatch(new RegExp(`card ${entity} +Nightly refresh  `));
    expect(await onScreen(['logs', '--wide'])).toMatch(new RegExp(`card +Nightly refresh  ${entity}  ${ACTOR}`));
  });

  it('machine formats and chosen columns show no names and request none, and a table in a pipe has the name beside the id', async () => {
    await onScreen(['logs']);
    for (const argv of [
      ['-o', 'json'],
      ['-o', 'jsonl'],
      ['-o', 'csv'],
      ['-o', 'yaml'],
      ['--fields', 'actor_id,actor_type'],
    ])
      expect(await onScreen(['logs', ...argv])).not.toContain('Nightly');
    fs.rmSync(path.join(home, '.cache'), { recursive: true });
    await onScreen(['logs', '-o', 'json']);
    const clock = { now: () => Date.now(), sleep: sleepLong };
    const piped = await svcHere(['logs', '-o', 'table'], { baseUrl: new URL(server.url), home, clock });
    expect(piped).toMatchObject({ code: 0, stdout: expect.stringContaining(ACTOR) });
    expect(piped.stdout).toContain('Nightly refresh');
    expect(asked).toBe(2);
  });

  it.each([
    [403, 1],
    [404, 1],
    [500, 2],
    [200, 1],
  ])(
    'a table silently shows ids when names fail with %i, and remembers only a failure that will stay',
    async (status, requests) => {
      answer(status === 200 ? [{ id: ACTOR }, null, { name: 'Nobody' }] : status);
      for (let run = 0; run < 2; run += 1) expect(await onScreen(['logs'])).toMatch(/ application 4707c78a  /);
      expect(asked).toBe(requests);
    },
  );

  it('the names of one service or tenant are not used for another', async () => {
    await onScreen(['logs']);
    for (const log of server.logs) log.tenant_id = 'tenant-2';
    answer([]);
    expect(await onScreen(['logs'])).not.toContain('Nightly');
    expect(asked).toBe(2);
    const other = await startLogServer();
    other.logs.push(...server.logs);
    expect(await onScreen(['logs'], { more: { SVC_BASE_URL: other.url } })).not.toContain('Nightly');
    await other.close();
  });

  it('R49: names are cleaned, cut to their column, and shown without card numbers', async () => {
    server.logs.push({ ...server.logs[0], actor_id: 'other-id', created_at: new Date().toISOString() });
    const names = [`\u001B[31mEvil\u202E\n${'x'.repeat(50)}`, '4242 4242 4242 4242'];
    answer(names.map((name, at) => ({ id: [ACTOR, 'other-id'][at], name })));
    await onScreen(['logs']);
    expect(fs.readFileSync(path.join(home, '.cache/svc/applications.json'), 'utf8')).not.toContain('4242 4242 4242');
    const text = await onScreen(['logs']);
    expect(text).toContain('Evil');
    expect(text).toMatch(/Evil.*xx…  4707c78a-/);
    for (const unsafe of ['\u001B[31m', '\u202E']) expect(text).not.toContain(unsafe);
  });

  it('a damaged cache of names counts as an empty one', async () => {
    fs.mkdirSync(path.join(home, '.cache/svc'), { recursive: true });
    const file = path.join(home, '.cache/svc/applications.json');
    for (const text of ['', '[]', '{"tenants":{"a":{"at":1}}}', '{"tenants":[{"at":1,"names":[[1,2]]}]}']) {
      fs.writeFileSync(file, text);
      await onScreen(['logs']);
    }
    expect(asked).toBe(4);
  });
});

/** Returns the messages of the entries by an actor, or that of the error. */
async function byActor(name: string) {
  const options = { baseUrl: new URL(server.url), home, clock: new FakeClock({ start: Date.now() }) };
  const found = await svcHere(['logs', '--actor', name, '-o', 'jsonl'], options);
  return found.code === 0 ? found.stdout.match(/"message":"[a-z]+"/g) : errorIn(found)['message'];
}

describe('--actor with the name of an application', () => {
  const PRODUCTION = 'Payment gateway service production';
  const CUT = 'Payment gateway servic…';

  it.each(['read', 'cached'])('is not another name with the same beginning (%s)', async (from) => {
    answer([{ id: ACTOR, name: PRODUCTION }]);
    if (from === 'cached') await onScreen(['logs']);
    expect(await byActor('Payment gateway service staging')).toMatch(/is no known actor$/);
    expect(await byActor(PRODUCTION.toUpperCase())).toEqual(['"message":"one"']);
    expect(await byActor(CUT)).toEqual(['"message":"one"']);
    answer([
      { id: ACTOR, name: PRODUCTION },
      { id: 'other-id', name: 'Payment gateway service staging' },
    ]);
    fs.rmSync(path.join(home, '.cache'), { recursive: true, force: true });
    expect(await byActor(CUT)).toContain(`is not one actor: ${ACTOR}, other-id`);
    expect(await byActor(PRODUCTION)).toEqual(['"message":"one"']);
  });

  it('R86: is not waited for where it may be the beginning of an id, which is searched with a warning', async () => {
    server.onApplications = () => undefined;
    const options = { baseUrl: new URL(server.url), home, clock: new FakeClock({ start: Date.now() }) };
    const { code, stderr } = await svcHere(['logs', '--actor', 'facade', '-o', 'jsonl'], options);
    expect([code, stderr]).toEqual([2, expect.stringContaining('could not be read (no response within 2 s)')]);
  });

  it('is looked for among all applications, also where the names of the first 100 are known', async () => {
    const all = Array.from({ length: 120 }, (_, at) => ({ id: `id-${at}`, name: `App ${at}` }));
    all[4] = { id: 'id-4', name: 'billing' };
    all[110] = { id: 'id-110', name: 'billing' };
    all[111] = { id: ACTOR, name: 'last' };
    server.onApplications = (page) => all.slice((page - 1) * 100, page * 100);
    await onScreen(['logs']);
    expect(await byActor('last')).toEqual(['"message":"one"']);
    expect(await byActor('billing')).toContain('is not one actor: id-4, id-110');
  });

  it('is not decided by the first 100 names without a warning where the others cannot be read', async () => {
    server.onApplications = () => Array.from({ length: 100 }, (_, at) => ({ id: `id-${at}`, name: `App ${at}` }));
    await onScreen(['logs']);
    answer(500);
    const options = { baseUrl: new URL(server.url), home, clock: new FakeClock({ start: Date.now() }) };
    const { stderr } = await svcHere(['logs', '--actor', 'App 7'], options);
    expect(stderr).toContain('is application id-7; others of this name may not be known');
  });
});

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
