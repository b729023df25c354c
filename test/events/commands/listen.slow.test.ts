import { spawn } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { FaultServer, type Script } from '../../support/fault-server.ts';
import { answer, silence } from '../../support/fault-steps.ts';
import { finished, Home, LAUNCHER } from '../../support/svc.ts';
import { TerminalSession } from '../../support/terminal.ts';
import { delivery, post } from '../support.ts';
import { rowsIn } from '../../support/run-here.ts';
import { type RunningListener, startListener } from './support.ts';
import { until } from '../../support/until.ts';

const home = new Home();

const listeners: RunningListener[] = [];
const targets: FaultServer[] = [];

async function listen(...argv: string[]): Promise<RunningListener> {
  const listener = await startListener(home, argv);
  listeners.push(listener);
  return listener;
}

async function target(script: Script): Promise<FaultServer> {
  const server = await FaultServer.start(script);
  targets.push(server);
  return server;
}

afterEach(async () => {
  for (const { child } of listeners.splice(0)) child.kill('SIGKILL');
  for (const server of targets.splice(0)) await server.close();
});

it('svc events listen prints each event as it comes, one JSON object a line, with all that it holds', async () => {
  const listener = await listen();
  await post(listener.url, { ...delivery('e1', { type: 'tenant.odd', data: { more: [1] } }), extra: 1 });
  await until(() => listener.rows().length === 1);
  expect(listener.rows()[0]).toMatchObject({
    repeated: false,
    age_seconds: expect.any(Number),
    event: { id: 'e1', type: 'tenant.odd', data: { more: [1] } },
    delivered_at: '2026-01-05T12:00:01Z',
    extra: 1,
  });
  await post(listener.url, delivery('e1'));
  await until(() => listener.rows().length === 2);
  expect(listener.rows()[1]).toMatchObject({ repeated: true });
});

it.each([
  [['-o', 'json'], '"n":12345678901234567890.10'],
  [['-o', 'jsonl'], '"n":12345678901234567890.10'],
  [['--jq', '.event.n'], '12345678901234567890.10'],
  [['-o', 'csv', '--fields', 'event.n,event.id'], '12345678901234567890.10,e3'],
])('svc events listen prints numbers as they were sent with %j', async (argv, text) => {
  const listener = await listen('--max', '1', ...argv);
  await post(listener.url, '{"event": {"id": "e3", "type": "t", "n": 12345678901234567890.10}, "repeated": 7}');
  expect(await listener.ended).toMatchObject({ code: 0 });
  expect(listener.stdout()).toContain(text);
});

it('svc events listen ends with 130 on Ctrl-C, 143 on TERM, and says nothing of a failure', async () => {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const listener = await listen();
    await post(listener.url, delivery());
    listener.child.kill(signal);
    const ended = await listener.ended;
    expect(ended.code).toBe(code);
    expect(ended.stderr).not.toMatch(/error|warning/);
    expect(listener.rows()).toHaveLength(1);
  }
});

it('svc events listen ends with 0 after so many events, or after so long', async () => {
  const listener = await listen('--max', '2');
  for (const id of ['a', 'b']) await post(listener.url, delivery(id));
  expect(await listener.ended).toMatchObject({ code: 0 });
  expect(listener.rows()).toHaveLength(2);
  expect(await home.svc(['events', 'listen', '--port', '0', '--for', '200ms'])).toMatchObject({ code: 0, stdout: '' });
});

it.each([[[]], [['a']]])('svc events listen --max ends with 11 where the time is over first (%j)', async (ids) => {
  const listener = await listen('--max', '2', '--for', '2s', '-o', 'json');
  for (const id of ids) await post(listener.url, delivery(id));
  const { code, stderr } = await listener.ended;
  expect(code).toBe(11);
  expect(JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
    code: 'pending',
    message: `the time was over after ${ids.length} of 2 events`,
    received: ids.length,
  });
  expect(JSON.parse(listener.stdout())).toHaveLength(ids.length);
});

it('svc events listen says clearly that the port is in use', async () => {
  const listener = await listen();
  const { code, stderr } = await home.svc(['events', 'listen', '--port', String(listener.port)]);
  expect(code).toBe(1);
  expect(JSON.parse(stderr)).toMatchObject({
    code: 'local',
    message: `port ${listener.port} is in use`,
    hint: expect.stringContaining('another port'),
  });
});

it.each([
  ['--host', '0.0.0.0'],
  ['--forward-to', 'http://localhost:4020/x'],
  ['--forward-to', 'http://example.com/'],
  ['--forward-to', 'ftp://127.0.0.1/'],
  ['--forward-to', 'https://user:canary@example.com/'],
  ['--port', '65536'],
  ['--max', '0'],
  ['--fields', 'event.id,nothing'],
])('R05: svc events listen refuses %s %s before it listens', async (...argv) => {
  const { code, stderr } = await home.svc(['events', 'listen', ...argv]);
  expect(code).toBe(2);
  expect(stderr).not.toContain('canary');
});

it.each([
  [2, '--port 80', 'http://localhost/'],
  [2, '--port 443', 'https://localhost/'],
  // The directory stops the command only after the check.
  [1, '--port 80', 'https://localhost/'],
])(
  'svc events listen ends with %i for %s and --forward-to %s: only its own address is refused',
  async (code, port, url) => {
    const line = ['events', 'listen', ...port.split(' '), '--forward-to', url, '--journal', '.'];
    expect(await home.svc(line)).toMatchObject({ code });
  },
);

it('svc events listen warns when other machines can reach it', async () => {
  const listener = await listen('--host', '0.0.0.0', '--allow-remote');
  expect(listener.stderr()).toContain('warning: other machines can reach the listener');
});

it('R67: svc events listen takes nothing under the name of another machine, unless it is allowed', async () => {
  const listener = await listen('--allow-host', 'hooks.example', '--max', '1');
  const sent = async (host: string): Promise<number> =>
    (await post(listener.url, delivery(), { headers: { host } })).status;
  expect([await sent('evil.example'), await sent('hooks.example')]).toEqual([403, 200]);
  expect(await listener.ended).toMatchObject({ code: 0 });
  expect(listener.stderr()).toContain('refused a request (403): its Host header names another machine');
});

it('svc events listen shows no line that the id of an event makes up', async () => {
  const broken = await target([answer(400)]);
  const listener = await listen('--forward-to', broken.url.href, '--max', '1');
  await post(listener.url, delivery('e1\nwarning: paid\r\nerror: forged\u2028x'));
  await listener.ended;
  expect(listener.stderr()).toContain(String.raw`e1\nwarning: paid\r\nerror: forged`);
  expect(listener.stderr()).not.toMatch(/^(?:warning: paid|error: forged)/m);
});

it('svc events listen reports what is not an event on stderr, and continues', async () => {
  const listener = await listen();
  expect(await post(listener.url, 'canary, no JSON')).toMatchObject({ status: 400 });
  expect(await post(listener.url, Buffer.from([0xff]))).toMatchObject({ status: 400 });
  expect(await post(listener.url, 'x'.repeat(10_000_000))).toMatchObject({ status: 413 });
  await post(listener.url, delivery());
  await until(() => listener.rows().length === 1);
  expect(listener.stderr()).toContain('refused a request (400): the body is not JSON');
  expect(listener.stderr()).toContain('refused a request (400): the body is not UTF-8 text');
  expect(listener.stderr()).toContain('refused a request (413): the body is longer than 1000000 bytes');
  expect(listener.stderr()).not.toContain('canary');
});

it('svc events listen reports the first refusals of a reason and counts the others, however many come', async () => {
  const listener = await listen('--max', '1');
  for (let sent = 0; sent < 25; sent += 1) await post(listener.url, 'no JSON');
  await post(listener.url, 'x'.repeat(10_000_000));
  await post(listener.url, delivery());
  await listener.ended;
  const refusals = listener
    .stderr()
    .split('\n')
    .filter((line) => line.includes('refused a request (400)'));
  expect(refusals).toHaveLength(10);
  expect(listener.stderr()).toContain('refused 25 requests in all (400): the body is not JSON');
  expect(listener.stderr()).not.toContain('in all (413)');
});

it('svc events listen keeps events in a journal for its owner only, and forwards them; what fails can be sent again as it says', async () => {
  const broken = await target([answer(400)]);
  const good = await target([answer(200)]);
  const listener = await listen(
    '--journal',
    "my events'.jsonl",
    '--forward-to',
    new URL('hooks', broken.url).href,
    '--forward-to',
    good.url.href,
    '--max',
    '2',
  );
  for (const id of ['a b', 'c']) expect(await post(listener.url, delivery(id))).toMatchObject({ status: 200 });
  const { code, stderr } = await listener.ended;
  expect(code).toBe(8);
  expect(good.whole('POST')).toHaveLength(2);
  expect(statSync(home.file("my events'.jsonl")).mode & 0o777).toBe(0o600);
  expect(stderr).toContain('did not reach');
  const again = String((JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '') as { next?: unknown }).next);
  expect(again).toContain("--id 'a b' --id c");
  broken.play([answer(204)]);
  const replay = spawn('sh', ['-c', again.replace('svc', `'${process.execPath}' '${LAUNCHER}'`)], {
    cwd: home.path,
    env: home.environment(),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  expect(await finished(replay)).toMatchObject({ code: 0 });
  expect(broken.whole('POST').map(({ body }) => (JSON.parse(body) as { event: { id: string } }).event.id)).toEqual([
    'a b',
    'c',
  ]);
});

it('the error of svc events listen names the command that sends again what did not reach a target', async () => {
  const broken = await target([answer(400)]);
  const hidden = new URL('hooks/0123456789abcdef', broken.url);
  const targets = ['--forward-to', broken.url.href, '--forward-to', hidden.href];
  const listener = await listen('--journal', 'quiet.jsonl', '--max', '1', '-o', 'json', ...targets);
  await post(listener.url, delivery('a'));
  const { code, stderr } = await listener.ended;
  expect(code).toBe(8);
  expect(JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
    code: 'network',
    hint: 'Send them again (<url> is the whole target, of which parts are not shown):',
    next: `svc events replay quiet.jsonl --forward-to ${broken.url.origin} --id a`,
    alternatives: ['svc events replay quiet.jsonl --forward-to <url> --id a'],
    unprocessed: [{ count: 1, ids: ['a'] }, { count: 1 }],
  });
  expect(stderr).not.toContain('to send them again');
});

it('svc events listen lets a target that hangs hold up nothing, and ends on Ctrl-C within its grace', async () => {
  const hanging = await target([silence('request')]);
  // The last line of an earlier listener is cut off.
  writeFileSync(
    home.file('hang.jsonl'),
    '{"received_at":"2099-01-05T12:00:00Z","id":"early","type":"t","body":"{}"}\n{"rec',
  );
  const listener = await listen('--journal', 'hang.jsonl', '--forward-to', hanging.url.href);
  for (let at = 0; at < 10; at += 1) await post(listener.url, delivery(`e${at}`));
  await until(() => listener.rows().length === 10);
  await until(() => hanging.whole('POST').length === 1);
  listener.child.kill('SIGINT');
  const { code, stderr } = await listener.ended;
  expect(code).toBe(130);
  expect(stderr).toMatch(
    /10 events did not reach http:\/\/127\.0\.0\.1:\d+\n[^]*to send them again, and with them any others since then[^]* {2}svc events replay hang\.jsonl --forward-to \S+:\d+ --since \S+Z$/m,
  );
  expect(readFileSync(home.file('hang.jsonl'), 'utf8').trimEnd().split('\n')).toHaveLength(12);
});

it('R51: svc events listen ends quietly when the reader of its output goes away; the journal has what came', async () => {
  const listener = await listen('--journal', 'gone.jsonl');
  listener.child.stdout.destroy();
  for (let at = 0; at < 3; at += 1) await post(listener.url, delivery(`e${at}`)).catch(() => undefined);
  const { code, stderr } = await listener.ended;
  expect(code).toBe(0);
  expect(stderr).not.toMatch(/error|EPIPE/);
  expect(readFileSync(home.file('gone.jsonl'), 'utf8')).toContain('"e0"');
});

it('svc events listen answers 503 while the disk of its journal is full, keeps whole lines, and says so', async () => {
  // A limit on the size of files stands in for a full disk: both cut the last write short.
  const line = `trap '' XFSZ; ulimit -f 4; exec '${process.execPath}' '${LAUNCHER}' events listen --port 0 --journal full.jsonl`;
  const child = spawn('bash', ['-c', line], {
    cwd: home.path,
    env: home.environment(),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = finished(child);
  await until(() => stderr.includes('listening on'));
  const url = /http:\/\/[\d.:]+/.exec(stderr)?.[0] ?? '';
  const statuses = [];
  for (let at = 0; at < 12; at += 1)
    statuses.push((await post(url, delivery(`e${at}`, { note: 'x'.repeat(300) }))).status);
  const taken = statuses.indexOf(503);
  expect(taken).toBeGreaterThan(2);
  expect(statuses.slice(0, taken)).toEqual(Array(taken).fill(200));
  child.kill('SIGINT');
  const { stdout } = await ended;
  expect(stdout.trimEnd().split('\n')).toHaveLength(statuses.filter((status) => status === 200).length);
  expect(stderr).toMatch(/refused a request \(503\): .*full\.jsonl could not be written: .*; its sender should retry/);
  const hooks = await target([answer(200)]);
  const replayed = await home.svc(['events', 'replay', 'full.jsonl', '--forward-to', hooks.url.href]);
  expect(replayed.code).toBe(0);
  expect(hooks.whole('POST')).toHaveLength(taken);
});

it('svc events listen has every event that it acknowledged in its journal, also when it is killed', async () => {
  for (let time = 0; time < 3; time += 1) {
    const listener = await listen('--journal', 'killed.jsonl');
    const taken: string[] = [];
    const posting = Array.from({ length: 40 }, async (_, at) => {
      const id = `${time}-${at}`;
      const answered = await post(listener.url, delivery(id)).catch(() => undefined);
      if (answered?.status === 200) taken.push(id);
    });
    await until(() => taken.length > 5 + 10 * time);
    listener.child.kill('SIGKILL');
    await Promise.all(posting);
    const kept = readFileSync(home.file('killed.jsonl'), 'utf8');
    expect(taken.filter((id) => !kept.includes(`"id":"${id}"`))).toEqual([]);
  }
});

it('svc events listen takes a burst of hundreds at once, each of them once', async () => {
  const listener = await listen('--journal', 'burst.jsonl');
  const answers = await Promise.all(Array.from({ length: 300 }, (_, at) => post(listener.url, delivery(`e${at}`))));
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  await until(() => listener.rows().length === 300);
  expect(listener.rows().every(({ repeated }) => repeated === false)).toBe(true);
  expect(readFileSync(home.file('burst.jsonl'), 'utf8').trimEnd().split('\n')).toHaveLength(300);
});

it('R51: svc events listen fails when its output cannot be written; the journal has the event', async () => {
  const line = `exec '${process.execPath}' '${LAUNCHER}' events listen --port 0 --journal out.jsonl > /dev/full`;
  const child = spawn('bash', ['-c', line], {
    cwd: home.path,
    env: home.environment(),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = finished(child);
  await until(() => stderr.includes('listening on'));
  await post(/http:\/\/[\d.:]+/.exec(stderr)?.[0] ?? '', delivery());
  expect(await ended).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('standard output could not be written'),
  });
  expect(readFileSync(home.file('out.jsonl'), 'utf8')).toContain('"e1"');
});

it('svc events listen continues taking events while the reader of its output stands still, and ends on Ctrl-C', async () => {
  const listener = await listen('--journal', 'still.jsonl');
  listener.child.stdout.pause();
  for (let at = 0; at < 20; at += 1)
    expect(await post(listener.url, delivery(`e${at}`, { note: 'x'.repeat(50_000) }))).toMatchObject({ status: 200 });
  listener.child.kill('SIGINT');
  await until(() => listener.stderr() !== '' && listener.child.killed);
  setTimeout(() => listener.child.stdout.resume(), 3_000);
  expect((await listener.ended).code).toBe(130);
  expect(readFileSync(home.file('still.jsonl'), 'utf8').trimEnd().split('\n')).toHaveLength(20);
});

it.each(['json', 'jsonl', 'csv', 'yaml'])('R52: svc events listen writes what parses whole as %s', async (format) => {
  const listener = await listen('--max', '2', '-o', format);
  for (const id of ['a', 'b']) await post(listener.url, delivery(id));
  const { stdout } = await listener.ended;
  const rows = await parseAs(format, stdout);
  expect(rows.map((row) => row['event.id'] ?? (row['event'] as { id: string }).id)).toEqual(['a', 'b']);
});

it('svc events listen shows a table on a terminal', async () => {
  const terminal = new TerminalSession(
    process.execPath,
    [LAUNCHER, 'events', 'listen', '--port', '0', '--max', '2', '--time', 'utc'],
    { columns: 160, cwd: home.path, env: home.environment() },
  );
  const screen = await terminal.waitFor(/listening on http:\S+;/);
  const url = /http:\/\/[\d.:]+/.exec(screen)?.[0] ?? '';
  await post(url, delivery('e1', { data: { job: { id: '\u001b[31mred', status: 'completed' } } }));
  await terminal.waitFor('red');
  await post(url, delivery('e1'));
  expect((await terminal.exited).exitCode).toBe(0);
  expect(terminal.screen()).toMatch(/RECEIVED +TYPE +JOB +JOB STATUS +EVENT +AGE S +REPEATED/);
  expect(terminal.screen()).toMatch(/account-updater\.job\.completed +j1 +completed +e1 +[\d.,]+ +true/);
  expect(terminal.screen()).toContain(String.raw`\x1b[31mred`);
});

async function parseAs(format: string, text: string): Promise<Record<string, unknown>[]> {
  if (format === 'json') return JSON.parse(text) as Record<string, unknown>[];
  if (format === 'jsonl') return rowsIn(text);
  if (format === 'csv') {
    const { parse } = await import('csv-parse/sync');
    return parse(text, { columns: true });
  }
  const { parse } = await import('yaml');
  return parse(text) as Record<string, unknown>[];
}
