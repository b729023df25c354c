import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Finished, finished, Home } from '../../support/svc.ts';
import { logAgo, type LogServer, startLogServer } from '../commands/log-server.ts';
import { type Collector, startCollector } from './collector.ts';

const KILLS = process.env['SOAK'] === '1' ? 60 : 3;
const ENTRIES_AT_ONCE = 500;
// Few kills by default, because a longer log takes longer until its first entry arrives.
const IDLE = process.env['SOAK'] === '1' ? '30s' : '5s';
const home = new Home();
let server: LogServer;
let collector: Collector;

beforeEach(async () => {
  [server, collector] = await Promise.all([startLogServer(), startCollector()]);
});
afterEach(() => Promise.all([server.close(), collector.close()]));

function env(more: Record<string, string> = {}): Record<string, string> {
  return { SVC_MANAGEMENT_API_KEY: 'a-management-key', SVC_BASE_URL: server.url, SVC_PACING: 'off', ...more };
}

function ship(argv: readonly string[], more: Record<string, string> = {}): Promise<Finished> {
  return home.svc(['logs', 'tail', '--to', `otlp+${collector.url}`, ...argv], { env: env(more) });
}

function uids(): string[] {
  const attributes = collector.taken.flatMap(({ records }) => records.flatMap((record) => record.attributes));
  const found = attributes.filter(({ key }) => key === 'log.record.uid');
  return found.map(({ value }) => JSON.stringify(value));
}

it('svc logs tail --to sends matching entries to the collector, and none to stdout', async () => {
  // Of one second, since a tail may pass the entries of two seconds on one after the other.
  const entry = logAgo(600_000, 'entry');
  for (let index = 0; index < 1_100; index += 1) server.logs.push({ ...entry, message: `entry ${index}` });
  server.logs.push(logAgo(500_000, 'other', { operation: 'delete' }));
  const { code, stdout, stderr } = await ship(['--since', '1h', '--operation', 'create', '--max', '1050']);
  expect({ code, stdout, stderr }).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringMatching(/without --checkpoint[^]*1,050 entries[^]*--to otlp\+http:\/\/127/),
  });
  expect(stderr.match(/without --checkpoint/g)).toHaveLength(1);
  expect(new Set(collector.messages()).size).toBe(1050);
  expect(collector.taken.map(({ records }) => records.length)).toEqual([0, 500, 500, 50]);
});

it('R06: svc logs tail --to sends the headers of the environment, and shows them nowhere', async () => {
  server.logs.push(logAgo(60_000, 'one 4111111111111111'));
  const headers = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20canary-token-1' };
  collector.reply = () => ({
    status: 200,
    body: '{"partialSuccess":{"errorMessage":"for Bearer canary-token-1, and canary-token-1 alone"}}',
  });
  const { code, stderr } = await ship(['--since', '1h', '--max', '1', '--debug'], headers);
  expect(code).toBe(0);
  expect(collector.taken[1]?.headers['authorization']).toBe('Bearer canary-token-1');
  expect(stderr).toContain('message from the collector');
  expect(stderr).toContain(`< 200 POST ${collector.url}/v1/logs`);
  expect(stderr).not.toContain('canary');
  expect(JSON.stringify(collector.taken)).not.toContain('4111111111111111');
});

it('svc logs tail --to contacts the collector before the service, and ends when it is refused', async () => {
  collector.reply = () => ({ status: 401 });
  const { code, stderr } = await ship(['--since', '1h']);
  expect({ code, stderr }).toMatchObject({ code: 4, stderr: expect.stringContaining('OTEL_EXPORTER') });
  expect(server.logs).toEqual([]);
});

it('svc logs tail --to sends nothing with --curl', async () => {
  const { code, stdout } = await ship(['--since', '1h', '--curl']);
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('/logs') });
  expect([collector.seen, server.requests]).toEqual([[], 0]);
});

it('svc logs tail --to writes the checkpoint only after the collector has accepted a batch, and reports what it did not accept', async () => {
  server.logs.push(logAgo(60_000, 'first'));
  collector.reply = ({ records }) => (records.length === 0 ? undefined : { status: 503 });
  const argv = ['--since', '1h', '--checkpoint', 'busy.json', '--for', '3s'];
  const { code, stderr } = await ship(argv);
  expect({ code, stderr }).toMatchObject({
    code: 8,
    stderr: expect.stringMatching(/not accepting entries[^]*failed \(503\)/),
  });
  collector.reply = undefined;
  expect((await ship([...argv, '--max', '1'])).code).toBe(0);
  expect(collector.messages()).toEqual(['first']);
});

it.each([
  ['and says why', ',"errorMessage":"too old"', ': too old'],
  ['without a reason', '', ''],
])('svc logs tail --to exits with 14 when the collector rejected entries %s', async (_, more, said) => {
  server.logs.push(logAgo(60_000, 'first'));
  const body = `{"partialSuccess":{"rejectedLogRecords":"1"${more}}}`;
  collector.reply = ({ records }) => (records.length === 0 ? undefined : { status: 200, body });
  const { code, stderr } = await ship(['--since', '1h', '--max', '1', '--checkpoint', `rejected-${said.length}.json`]);
  expect({ code, stderr }).toMatchObject({
    code: 14,
    stderr: expect.stringMatching(new RegExp(`permanently rejected 1 of 1 entry of [-\\d]+ [:\\d]+Z${said}\\n`)),
  });
  // The checkpoint went on: these entries would be rejected again.
  collector.reply = undefined;
  expect((await ship(['--checkpoint', `rejected-${said.length}.json`, '--idle-exit', '1s'])).code).toBe(0);
  expect(collector.messages()).toEqual(['first']);
});

it(
  `R29: svc logs tail --to, killed ${KILLS} times, loses nothing and sends at most one batch twice each time`,
  { timeout: 900_000 },
  async () => {
    for (let index = 0; index < KILLS * 1_200; index += 1)
      server.logs.push(logAgo(3_600_000 - (index % 3_000) * 1_000, `entry ${index}`));
    for (const twin of server.logs.slice(0, KILLS)) server.logs.push({ ...twin });
    const begin = new Date(Date.now() - 7_200_000).toISOString();
    const argv = ['logs', 'tail', '--to', `otlp+${collector.url}`];
    argv.push('--since', begin, '--checkpoint', 'killed.json', '--idle-exit', IDLE);
    let [kills, due] = [0, 0];
    let killed = false;
    for (; kills < KILLS; kills += 1) {
      const child = home.start(argv, { env: env() });
      due = 2 + (kills % 4);
      killed = false;
      // The kill comes directly after a batch was accepted, or before: every second response is never sent.
      collector.reply = ({ records }) => {
        if (records.length > 0) due -= 1;
        if (due === 0) killed = child.kill('SIGKILL');
        return undefined;
      };
      await finished(child);
      if (!killed) break;
    }
    collector.reply = undefined;
    expect((await home.svc(argv, { env: env() })).code).toBe(0);
    expect(kills).toBeGreaterThan(KILLS / 2);
    const found = collector.messages();
    expect(new Set(found).size).toBe(server.logs.length - KILLS);
    // The id of an entry distinguishes a repetition from another equal entry.
    expect(new Set(uids()).size).toBe(server.logs.length);
    expect(found.length - server.logs.length).toBeLessThanOrEqual(kills * ENTRIES_AT_ONCE);
    expect(found.length).toBeGreaterThan(server.logs.length);
  },
);

it('R53: svc logs tail --to exits with 130 on Ctrl-C while the collector is unreachable, and says how to continue', async () => {
  server.logs.push(logAgo(60_000, 'first'));
  collector.reply = ({ records }) => (records.length === 0 ? undefined : { status: 503 });
  const argv = ['logs', 'tail', '--since', '1h', '--checkpoint', 'away.json'];
  const child = home.start([...argv, '--to', `otlp+${collector.url}`], { env: env() });
  const ended = finished(child);
  child.stderr.on('data', (text: string) => text.includes('retrying') && child.kill('SIGINT'));
  const { code, stderr } = await ended;
  expect({ code, stderr }).toMatchObject({
    code: 130,
    stderr: expect.stringMatching(/--checkpoint away\.json --to otlp\+http/),
  });
});
