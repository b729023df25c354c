import { beforeEach, expect, it } from 'vitest';
import { logAgo, type LogServer, startLogServer } from '../../logs/commands/log-server.ts';
import { FakeClock } from '../../support/clock.ts';
import { KEY, succeeded, svcHere } from '../../support/run-here.ts';

let server: LogServer;

beforeEach(async () => {
  server = await startLogServer();
  server.logs.push(logAgo(60_000, 'made'));
});

/** Runs a command whose stderr is for a collector, and returns the lines as objects. */
async function recordsOf(...argv: string[]): Promise<readonly Record<string, unknown>[]> {
  const { stderr } = await svcHere(argv, {
    baseUrl: new URL(server.url),
    env: { SVC_DEBUG: 'json' },
    clock: new FakeClock({ start: Date.now() }),
  });
  expect(stderr).not.toContain(KEY);
  const lines = stderr.trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

it('SVC_DEBUG=json writes requests, responses and notices as one JSON object a line', async () => {
  const records = await recordsOf('logs', 'list', '--operation', 'delete', '-o', 'table');
  expect(records).toEqual([
    expect.objectContaining({ level: 'debug', event: 'request', method: 'GET', attempt: 1 }),
    expect.objectContaining({ level: 'debug', event: 'response', status: 200, ms: expect.any(Number) }),
    expect.objectContaining({ level: 'info', message: expect.stringContaining('no match in the 1 entry read') }),
  ]);
  for (const { time } of records) expect(time).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
});

it('SVC_DEBUG=json writes what other commands draw for people as an object too', async () => {
  const { stderr } = succeeded(
    await svcHere(['--sandbox', 'tenant', 'update', '--name', 'X', '--yes'], { env: { SVC_DEBUG: 'json' } }),
  );
  const lines = stderr.trimEnd().split('\n');
  const records = lines.map((line) => JSON.parse(line) as { readonly message?: string });
  expect(records.some(({ message }) => message?.includes('name') && message.includes('"X"'))).toBe(true);
});

it('SVC_DEBUG=json writes each retry with its pause, and the error that ends the command', async () => {
  server.refusal = 503;
  const records = await recordsOf('logs', 'list', '-o', 'table');
  const kinds = records.map(({ event }) => event);
  expect(kinds.slice(0, 4)).toEqual(['request', 'response', 'wait', 'request']);
  expect(records[2]).toMatchObject({ why: 'retry', ms: expect.any(Number) });
  expect(records.at(-1)).toMatchObject({ code: 'server', exit_code: 8 });
});

it.each([
  ['--debug', ['--debug'], {}],
  ['SVC_DEBUG=1', [], { SVC_DEBUG: '1' }],
])('%s alone shows the requests and responses to people', async (_, argv, env) => {
  const { stderr } = await svcHere(['logs', 'list', ...argv], { baseUrl: new URL(server.url), env });
  expect(stderr).toMatch(/GET .*\/logs/);
  expect(stderr).not.toContain(KEY);
});
