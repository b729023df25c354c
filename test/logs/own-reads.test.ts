import { readdirSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { SvcError } from '../../src/base/errors.ts';
import type { Log } from '../../src/schema/log.ts';
import { FakeClock } from '../support/clock.ts';
import { rowsIn, svcHere } from '../support/run-here.ts';
import { Screen } from '../support/screen.ts';
import { type LogServer, startLogServer } from './commands/log-server.ts';
import { temporaryDirectory } from '../support/directory.ts';

const START = Date.UTC(2026, 2, 1, 12);
const OWN = '4707c78a-ef35-487e-a67c-cc101d1d4c49';
const OTHER = 'a20690bc-0000-4000-8000-000000000002';

let server: LogServer;
let home: string;
let clock: ServiceClock;

/** A clock that the service shares. */
class ServiceClock extends FakeClock {
  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await super.sleep(ms, signal);
    server.now = new Date(this.now()).toISOString();
  }
}

beforeEach(async () => {
  home = temporaryDirectory();
  server = await startLogServer();
  clock = new ServiceClock({ start: START });
  server.now = new Date(START).toISOString();
  server.onList = () => server.logs.push(readOfLogs(OWN));
});

function happened(agoMs: number, more: Partial<Log>): Log {
  const created_at = new Date(clock.now() - agoMs).toISOString().replace(/\.\d+/, '');
  return { tenant_id: 't-1', actor_type: 'application', created_at, ...more };
}

function readOfLogs(actor: string, agoMs = 0): Log {
  return happened(agoMs, { operation: 'read', entity_type: 'log', entity_id: 'l', actor_id: actor });
}

function cardRead(agoMs: number): Log {
  return happened(agoMs, { operation: 'read', entity_type: 'card', entity_id: 'c-1', actor_id: OWN });
}

async function onScreen(...argv: string[]) {
  const screen = new Screen(100);
  const env = { SVC_PAGER: '', NO_COLOR: '1', SVC_TIME: 'utc' };
  const options = { baseUrl: new URL(server.url), home, env, clock, stdout: screen };
  const { code, stderr } = await svcHere(['logs', ...argv], options);
  const rows = screen.text.split('\n').filter((line) => line.startsWith('2026-'));
  return { code, stderr, rows };
}

describe('reads of the logs by the own key, on a terminal', () => {
  it('a tail hides the reads of its own key, also older ones, and no other entry', async () => {
    server.logs.push(cardRead(4_000), cardRead(3_000), readOfLogs(OTHER, 8_000));
    server.logs.push(...[2, 3, 4, 5].map((seconds) => readOfLogs(OWN, seconds * 1_000 + 1_000)));
    const { code, rows, stderr } = await onScreen('tail', '-n', '3', '--idle-exit', '20s');
    expect(code).toBe(0);
    expect(rows).toHaveLength(3);
    expect(rows[0]).toMatch(/read +log l +application a20690bc/);
    for (const row of rows.slice(1)) expect(row).toMatch(/read +card c-1 +application 4707c78a/);
    expect(stderr).toMatch(
      /^hidden: \d+ reads of the logs by this key \(application 4707c78a\); --no-hide-own-reads shows them$/m,
    );
  });

  it.each([[['--no-hide-own-reads']], [['--operation', 'read']], [['--entity-type', 'log']]])(
    'a tail shows the reads of its own key with %j',
    async (argv) => {
      const { rows, stderr } = await onScreen('tail', '--idle-exit', '20s', ...argv);
      expect(rows.filter((row) => row.includes(' log l')).length).toBeGreaterThan(2);
      expect(stderr).not.toContain('hidden: ');
    },
  );

  it('R65: the printed commands show own reads, or hide them, as the tail did', async () => {
    const shown = await onScreen('tail', '--for', '20s', '--no-hide-own-reads');
    expect(shown.stderr.match(/^ {2}svc logs tail .* --no-hide-own-reads( |$)/gm)).toHaveLength(2);
    const hidden = await onScreen('tail', '--for', '20s', '--hide-own-reads');
    // A checkpoint does not go together with this option, which is the default on a terminal.
    expect(hidden.stderr.match(/^ {2}svc logs tail --checkpoint .*/m)?.[0]).not.toContain('--hide-own-reads');
    expect(hidden.stderr).toMatch(/^ {2}svc logs tail --since \S+ --hide-own-reads$/m);
  });

  it('a tail hides nothing when another actor reads the logs in the same seconds, so that the own key is unknown', async () => {
    server.onList = () => server.logs.push(readOfLogs(OWN), readOfLogs(OTHER));
    const { rows } = await onScreen('tail', '--max', '6');
    expect(rows.filter((row) => row.includes('4707c78a')).length).toBeGreaterThan(0);
    expect(rows.filter((row) => row.includes('a20690bc')).length).toBeGreaterThan(0);
  });

  it('svc logs -f uses no pager, hides the reads of its own key, and says how many', async () => {
    const interrupt = new AbortController();
    server.onList = () => {
      server.logs.push(readOfLogs(OWN));
      if (clock.now() > START + 60_000) interrupt.abort(new SvcError('interrupted', 'interrupted'));
    };
    const options = { baseUrl: new URL(server.url), home, clock, columns: 110, signal: interrupt.signal };
    const env = { SVC_PAGER: 'touch paged' };
    const { code, stdout, stderr } = await svcHere(['logs', '-f', '-n', '2'], { ...options, env });
    expect(code).toBe(130);
    expect(stderr).toMatch(/hidden: \d+ reads? of the logs by this key \(.*\)/);
    expect(stdout).not.toMatch(/read +log /);
    expect(readdirSync(home)).not.toContain('paged');
  });

  it('a pipe gets the reads of the own key', async () => {
    const { stdout } = await svcHere(['logs', 'tail', '--idle-exit', '20s'], { baseUrl: new URL(server.url), clock });
    expect(stdout.match(/"entity_type":"log"/g)?.length).toBeGreaterThan(2);
  });
});

function countsOf(...argv: string[]) {
  const line = ['logs', 'stats', '--since', '2m', '-o', 'table', ...argv];
  return svcHere(line, { baseUrl: new URL(server.url), clock });
}

describe('own reads in a list and in counts', () => {
  beforeEach(() => {
    server.logs.push(...[20, 30, 40, 50, 60].map((seconds) => readOfLogs(OWN, seconds * 1_000)));
    server.logs.push(cardRead(25_000), cardRead(35_000), readOfLogs(OTHER, 45_000));
  });

  it('a list shows own reads, and --hide-own-reads leaves them out, says how many, and still counts entries with -n', async () => {
    const argv = ['list', '-n', '3'];
    const all = await svcHere(['logs', ...argv], { baseUrl: new URL(server.url), clock });
    expect(all.stdout).toContain(`"actor_id":"${OWN}"`);
    const hidden = await svcHere(['logs', ...argv, '--hide-own-reads'], { baseUrl: new URL(server.url), clock });
    const actors = rowsIn<Log>(hidden.stdout).map(({ entity_type }) => entity_type);
    expect(actors).toEqual(['card', 'card', 'log']);
    expect(hidden.stderr).toMatch(/^hidden: \d+ reads of the logs by this key \(application 4707c78a\)$/m);
  });

  it('a list on a terminal leaves own reads out, and says in one line how many and what shows them', async () => {
    const onTerminal = { baseUrl: new URL(server.url), clock, columns: 160 };
    const hidden = await svcHere(['logs'], onTerminal);
    const ownReads = /log l +application 4707c78a/;
    expect(hidden.stdout).not.toMatch(ownReads);
    const said = hidden.stderr.split('\n').filter((line) => line.includes('of the logs by this key'));
    expect(said).toEqual([expect.stringMatching(/hidden: \d+ reads .*; --no-hide-own-reads shows them/)]);
    const shown = await svcHere(['logs', '--no-hide-own-reads'], onTerminal);
    expect(shown.stdout).toMatch(ownReads);
    expect(shown.stderr).not.toContain('by this key');
  });

  it('a list on a terminal names the options for more results, and no cursor', async () => {
    server.logs.push(...Array.from({ length: 150 }, (_, index) => cardRead(100_000 + index * 1_000)));
    const argv = ['logs', '--until', '95s', '--no-hide-own-reads'];
    const { stderr } = await svcHere(argv, { baseUrl: new URL(server.url), clock, columns: 160 });
    expect(stderr).toContain('more results: use --all or a larger --limit');
    expect(stderr).not.toContain('--start');
  });

  it('the command for the next page of a list goes on hiding own reads', async () => {
    server.logs.push(...Array.from({ length: 150 }, (_, index) => cardRead(100_000 + index * 1_000)));
    const argv = ['logs', 'list', '--until', '95s', '--hide-own-reads', '--page-size', '50'];
    const { stderr } = await svcHere(argv, { baseUrl: new URL(server.url), clock });
    expect(stderr).toMatch(/^more results:\n {2}svc logs list .*--hide-own-reads .*--start /m);
  });

  it('a count leaves own reads out with --hide-own-reads, and says how many', async () => {
    const { stdout, stderr } = await countsOf('--hide-own-reads');
    expect(stdout).toMatch(/^3 log entries of tenant/m);
    expect(stdout).not.toContain('own reads');
    expect(stderr).toMatch(/^hidden: \d+ reads of the logs by this key/m);
  });

  it('a list and a count hide nothing, and warn, when another actor reads the logs in the same seconds', async () => {
    server.onList = () => server.logs.push(readOfLogs(OWN), readOfLogs(OTHER));
    const list = await svcHere(['logs', '--hide-own-reads'], { baseUrl: new URL(server.url), clock });
    expect([list.code, list.stdout]).toEqual([0, expect.stringContaining(`"actor_id":"${OWN}"`)]);
    for (const { stderr } of [list, await countsOf('--hide-own-reads')])
      expect(stderr).toContain('warning: no read is hidden: the service does not show under which actor');
  });
});

describe('a quiet tail', () => {
  it('a tail finds its own reads behind empty pages', async () => {
    server.logs.push(...[2, 3].map((seconds) => readOfLogs(OWN, seconds * 1_000)), cardRead(4_000));
    server.emptyPages = 2;
    const { code, rows } = await onScreen('tail', '-n', '1', '--max', '1');
    expect({ code, rows }).toEqual({ code: 0, rows: [expect.stringContaining('card c-1')] });
  });

  it.each([403, 429, 503])('R86: a tail whose first request gets a %i shows its entries', async (status) => {
    server.logs.push(cardRead(4_000), cardRead(3_000));
    const refusal = { get: () => (server.requests === 1 ? status : undefined) };
    Object.defineProperty(server, 'refusal', refusal);
    const { code, rows } = await onScreen('tail', '-n', '2', '--max', '2');
    expect(code).toBe(0);
    expect(rows).toHaveLength(2);
  });
});
