import { existsSync, readFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import type { ChildEnd } from '../../src/base/security/child-environment.ts';
import type { Environment } from '../../src/base/system.ts';
import { eventVariables, runCommand } from '../../src/events/sinks.ts';
import { ownDirectory, received } from './support.ts';

const directory = ownDirectory();
afterAll(() => directory.remove());

const never = new AbortController().signal;

interface Run {
  readonly result: ChildEnd;
  readonly lines: string[];
}

interface How {
  readonly environment?: Environment;
  readonly limitMs?: number;
  readonly signal?: AbortSignal;
}

const ENVIRONMENT = { PATH: process.env['PATH'], SVC_PRIVATE_API_KEY: 'canary', OTHER: 'kept' };

async function run(line: string, event = received(), how: How = {}): Promise<Run> {
  const { environment = ENVIRONMENT, limitMs = 10_000, signal = never } = how;
  const lines: string[] = [];
  const command = { line, environment, platform: process.platform, cwd: directory.path('.'), limitMs };
  const result = await runCommand(command, event, false, (said) => lines.push(said), signal);
  return { result, lines };
}

it('a command for each event gets the event on its input and its fields in the environment', async () => {
  const event = received('e 1');
  const { result, lines } = await run(
    'cat > got; echo "$SVC_EVENT_ID|$SVC_EVENT_TYPE|$SVC_JOB_ID|$SVC_JOB_STATUS|$SVC_EVENT_REPEATED|$OTHER"',
    event,
  );
  expect(result).toEqual({ code: 0, signal: undefined });
  expect(lines).toEqual(['e 1|account-updater.job.completed|j1|completed|false|kept']);
  expect(readFileSync(directory.path('got'))).toEqual(event.bytes);
});

it('R63: a command for each event does not get the keys of the tool, nor fields that this event lacks', async () => {
  const environment = {
    PATH: process.env['PATH'],
    SVC_API_KEY: 'canary',
    SVC_MANAGEMENT_API_KEY: 'canary',
    SVC_PRIVATE_API_KEY_FILE: '/canary',
    svc_private_api_key: 'canary',
    SVC_PROFILE: 'p',
    SVC_JOB_ID: 'of another event',
  };
  const { lines } = await run('env', received('e1', { data: null }), { environment });
  expect(lines.join('\n')).not.toMatch(/canary|another/);
  expect(lines).toEqual(expect.arrayContaining(['SVC_PROFILE=p', 'SVC_EVENT_ID=e1', 'SVC_EVENT_REPEATED=false']));
});

it('a command for each event takes nothing of an event for a command', async () => {
  const evil = `$(touch evil); touch evil\n\0"'\``;
  const { lines } = await run(
    'echo "$SVC_EVENT_ID"; echo $SVC_JOB_ID',
    received(evil, { data: { job: { id: '; touch evil' } } }),
  );
  expect(lines).toEqual([`$(touch evil); touch evil  "'\``, '; touch evil']);
  expect(existsSync(directory.path('evil'))).toBe(false);
});

it('a command for each event leaves a value out that the shell of Windows would take apart', () => {
  const event = received('a&calc', { data: { job: { id: 'j-1', status: '%PATH%' } } });
  expect(eventVariables(event, false, 'win32')).toMatchObject({
    SVC_JOB_ID: 'j-1',
    SVC_EVENT_TYPE: 'account-updater.job.completed',
    SVC_EVENT_ID: undefined,
    SVC_JOB_STATUS: undefined,
  });
});

it('a command for each event tells how it ended', async () => {
  expect((await run('exit 7')).result).toEqual({ code: 7, signal: undefined });
  expect((await run('kill -9 $$')).result).toEqual({ code: undefined, signal: 'SIGKILL' });
  expect((await run('no-such-command-here')).result).toMatchObject({ code: 127 });
});

it('a command for each event need not read its input, however long that is', async () => {
  const { result } = await run('exec true', received('e1', { note: 'x'.repeat(900_000) }));
  expect(result).toMatchObject({ code: 0 });
});

it('a command for each event may write without an end or a line: what is reported is bounded', async () => {
  const { lines } = await run('head -c 5000000 /dev/zero | tr "\\0" x; echo; echo last >&2');
  expect(lines.map((line) => line.length).toSorted((a, b) => a - b)).toEqual([4, 2000]);
});

it('a command for each event is ended when it takes too long, and when the listener ends', async () => {
  expect((await run('sleep 30', received(), { limitMs: 100 })).result).toMatchObject({
    problem: 'took longer than 0.1 s',
  });
  const abort = new AbortController();
  setTimeout(() => abort.abort(), 50);
  const insistent = await run('trap "" TERM; sleep 30 & wait; sleep 30', received(), { signal: abort.signal });
  expect(insistent.result).toMatchObject({ problem: expect.stringContaining('was interrupted') });
});

it('a command for each event is reported when it cannot be started', async () => {
  const command = {
    line: 'true',
    environment: {},
    platform: process.platform,
    cwd: directory.path('none'),
    limitMs: 1000,
  };
  const result = await runCommand(command, received(), false, () => undefined, never);
  expect(result.problem).toMatch(/could not be started/);
});
