import { appendFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import type { JournalEntry } from '../../../src/events/journal.ts';
import { FaultServer, type Script } from '../../support/fault-server.ts';
import { answer, silence } from '../../support/fault-steps.ts';
import { errorIn, type HereResult, rowsIn, svcIn } from '../../support/run-here.ts';
import { Home } from '../../support/svc.ts';
import { delivery } from '../support.ts';

const home = new Home();

let target: FaultServer;
beforeEach(async () => {
  target = await FaultServer.start([answer(200)]);
  writeFileSync(home.file('j.jsonl'), ['a', 'b', 'a', 'c'].map((id, at) => line(id, at)).join(''));
});
afterEach(() => target.close());

function line(id: string, at: number, more: Partial<JournalEntry> = {}): string {
  const type = id === 'c' ? 'tenant.odd' : 'account-updater.job.completed';
  const entry: JournalEntry = {
    received_at: `2026-01-05T12:00:0${at}.000Z`,
    id,
    type,
    headers: { 'content-type': 'application/x', 'x-signature': `s${at}`, authorization: '[hidden]', host: 'old' },
    body: ` ${JSON.stringify(delivery(id, { type }))}`,
    ...more,
  };
  return `${JSON.stringify(entry)}\n`;
}

function replay(...argv: string[]): Promise<HereResult> {
  return svcIn(home.path, ['events', 'replay', 'j.jsonl', '--forward-to', new URL('x?k=1', target.url).href, ...argv]);
}

/** Interrupts a replay while it sends its event with this index, counted from 0. */
function interrupted(index: number, argv: readonly string[]): Promise<HereResult> {
  const stop = new AbortController();
  target.play((_, at) => {
    if (at < index) return answer(200);
    stop.abort(new SvcError('interrupted', 'interrupted'));
    return silence('request');
  });
  const words = ['events', 'replay', 'j.jsonl', '--forward-to', new URL('x?k=1', target.url).href, ...argv];
  return svcIn(home.path, words, { signal: stop.signal });
}

function sentIds(): string[] {
  return target.whole('POST').map(({ body }) => (JSON.parse(body) as { event: { id: string } }).event.id);
}

function script(statusOf: (id: string) => number): Script {
  return (request, index) => answer(statusOf(['a', 'b', 'a', 'c'][index] ?? request.path));
}

it('svc events replay sends every event again, in order, as it came and marked as such', async () => {
  const { code, stdout } = await replay();
  expect(code).toBe(0);
  expect(sentIds()).toEqual(['a', 'b', 'a', 'c']);
  expect(target.whole('POST')[1]).toMatchObject({
    path: '/x?k=1',
    body: ` ${JSON.stringify(delivery('b'))}`,
    headers: {
      'content-type': 'application/x',
      'x-signature': 's1',
      'svc-replayed': '2026-01-05T12:00:01.000Z',
      host: target.url.host,
    },
  });
  expect(target.whole('POST')[1]?.headers).not.toHaveProperty('authorization');
  expect(rowsIn(stdout)[3]).toEqual({
    id: 'c',
    type: 'tenant.odd',
    received_at: '2026-01-05T12:00:03.000Z',
    outcome: 'sent',
    status: 200,
    attempts: 1,
  });
});

it.each([
  [
    ['--id', 'a', '--id', 'b'],
    ['a', 'b', 'a'],
  ],
  [
    ['--since', '2026-01-05T12:00:02Z'],
    ['a', 'c'],
  ],
  [['--since', '2026-01-05T12:00:02Z', '--id', 'a'], ['a']],
  [['--since', '2026-01-05T13:00:00Z'], []],
])('svc events replay chooses with %j', async (argv, ids) => {
  const { code } = await replay(...argv);
  expect(code).toBe(0);
  expect(sentIds()).toEqual(ids);
});

it('svc events replay continues after one that is refused, and ends with 8 and the command that sends what failed', async () => {
  target.play(script((id) => (id === 'b' ? 400 : 200)));
  const { code, stdout, stderr } = await replay('-o', 'jsonl');
  expect(code).toBe(8);
  expect(sentIds()).toEqual(['a', 'b', 'a', 'c']);
  expect(rowsIn(stdout).map(({ outcome }) => outcome)).toEqual(['sent', 'failed', 'sent', 'sent']);
  expect(JSON.parse(stderr)).toMatchObject({
    code: 'network',
    message: expect.stringContaining('1 of 4 events did not reach'),
    hint: expect.stringContaining('<url> is the whole target, of which parts are not shown'),
    next: 'svc events replay j.jsonl --forward-to <url> --id b',
    failed: 1,
    sent: 3,
    untried: 0,
  });
});

it('svc events replay says that a choice by time sends events again that arrived', async () => {
  const ids = Array.from({ length: 9 }, (_, at) => `e${at}`);
  writeFileSync(home.file('j.jsonl'), ids.map((id, at) => line(id, at)).join(''));
  target.play((_, at) => answer(at % 3 === 0 ? 200 : 400));
  expect(errorIn(await replay())).toMatchObject({
    message: expect.stringContaining('6 of 9 events did not reach'),
    hint: expect.stringContaining('send them again, and with them any others since then (<url> is'),
    next: expect.stringContaining('--since 2026-01-05T12:00:01.000Z'),
  });
});

it('svc events replay sends every event to a target that refuses each, because it responds', async () => {
  target.play(script(() => 400));
  const { code, stdout } = await replay('-o', 'jsonl');
  expect(code).toBe(8);
  expect(sentIds()).toEqual(['a', 'b', 'a', 'c']);
  expect(rowsIn(stdout).map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'failed', 'failed']);
});

it.each([
  'services/T0/9fKq2Lw8Zr4TyB6Vn1',
  'events/x?key=9fKq2Lw8Zr4TyB6Vn1',
  '9fKq2Lw8Zr4TyB6Vn1/account-updater-events',
])('svc events replay shows no token in its target %s', async (path) => {
  target.play(script((id) => (id === 'b' ? 400 : 200)));
  const argv = ['events', 'replay', 'j.jsonl', '--forward-to', new URL(path, target.url).href];
  const { code, stdout, stderr } = await svcIn(home.path, argv, { env: { SVC_DEBUG: '1' } });
  expect(code).toBe(8);
  expect(stderr).toMatch(/1 of 4 events did not reach http\S+…/);
  expect(stderr).toContain('--forward-to <url> --id b');
  expect(stdout + stderr).not.toContain('9fKq2Lw8Zr4TyB6Vn1');
});

it('svc events replay gives up when the target does not respond at all', async () => {
  // The target speaks no TLS, a failure that svc does not retry.
  target.play([{ on: 'connection', act: (socket) => socket.end('no TLS') }]);
  const href = target.url.href.replace('http:', 'https:');
  // The clock was set back before the last event, which is not tried.
  const times = { c: 1, d: 2, e: 3, f: 4, g: 5, h: 6, i: 0 };
  writeFileSync(
    home.file('many.jsonl'),
    Object.entries(times)
      .map(([id, at]) => line(id, at))
      .join(''),
  );
  const ids = ['d', 'e', 'f', 'g', 'h', 'i'].flatMap((id) => ['--id', id]);
  const argv = ['events', 'replay', 'many.jsonl', '--forward-to', href, ...ids];
  const { code, stdout, stderr } = await svcIn(home.path, argv);
  expect(code).toBe(8);
  expect(rowsIn(stdout).length).toBe(3);
  expect(JSON.parse(stderr)).toMatchObject({
    message: expect.stringMatching(/^3 of 6 events did not reach .*; the rest \(3\) was not tried, since/),
    hint: 'Check that the target is running, then send them again.',
    untried: 3,
    next_words: ['svc', ...argv.with(4, href.replace(/\/$/, '')), '--since', '2026-01-05T12:00:00.000Z'],
  });
});

it.each<[string, number, string[], string[]]>([
  ['before the first', 0, ['--since', '2026-01-05T12:00:01Z'], ['--since', '2026-01-05T12:00:01.000Z']],
  ['in between', 2, ['--id', 'a', '--id', 'b'], ['--id', 'a', '--id', 'b']],
])('svc events replay names the command with the same selection after an interrupt %s', async (_, sent, argv, next) => {
  expect(errorIn(await interrupted(sent, argv))).toMatchObject({
    code: 'interrupted',
    message: `interrupted; sent until then: ${sent} events`,
    next_words: ['svc', 'events', 'replay', 'j.jsonl', '--forward-to', '<url>', ...next],
  });
});

it('svc events replay names the same ids again where more failed than it lists', async () => {
  const ids = Array.from({ length: 7 }, (_, at) => `e${at}`);
  writeFileSync(home.file('j.jsonl'), ['x', ...ids, 'y'].map((id, at) => line(id, at)).join(''));
  target.play([answer(400)]);
  const options = ids.flatMap((id) => ['--id', id]);
  const words = [
    'svc',
    'events',
    'replay',
    'j.jsonl',
    '--forward-to',
    '<url>',
    ...options,
    '--since',
    '2026-01-05T12:00:01.000Z',
  ];
  expect(errorIn(await replay(...options))['next_words']).toEqual(words);
});

it('svc events replay sends each event once to a listener that adds what it receives to the same journal', async () => {
  target.play((_, at) => {
    if (at < 20) appendFileSync(home.file('j.jsonl'), line('d', at % 10));
    return answer(200);
  });
  expect(await replay()).toMatchObject({ code: 0, stderr: expect.stringContaining('4 sent to') });
  expect(sentIds()).toEqual(['a', 'b', 'a', 'c']);
});

it('svc events replay skips lines that cannot be read, and says which', async () => {
  appendFileSync(home.file('j.jsonl'), '{"received_at":"2026-01-05T12:00:04Z","id":"d","ty');
  const { code, stderr } = await replay('--debug');
  expect(code).toBe(0);
  expect(stderr).toContain('line 5 of j.jsonl is skipped: it is truncated or not JSON');
  expect(sentIds()).toHaveLength(4);
});

it('svc events replay reads an event behind a byte order mark', async () => {
  writeFileSync(home.file('j.jsonl'), `\uFEFF${line('a', 0)}${line('c', 1)}`);
  expect(await replay()).toMatchObject({ code: 0 });
  expect(sentIds()).toEqual(['a', 'c']);
});

it('svc events replay ends with 13 after a line that is damaged, and the command sends the event of the corrected line alone', async () => {
  writeFileSync(home.file('j.jsonl'), `${line('a', 0)}{"received_at":"2026\n#broken#\n${line('c', 1)}`);
  const damaged = await replay();
  expect([damaged.code, sentIds()], damaged.stderr).toEqual([13, ['a', 'c']]);
  expect(errorIn(damaged)).toMatchObject({ line: 3, sent: 2, unreadable: 2 });
  expect(errorIn(damaged)['next_words']).toEqual(expect.arrayContaining(['--id', '<id>']));
  expect(await replay('--id', 'c')).toMatchObject({ code: 0 });
  writeFileSync(home.file('j.jsonl'), `${line('a', 0)}{"received_at":"2026\n${line('b', 1)}${line('c', 1)}`);
  expect(await replay('--id', 'b')).toMatchObject({ code: 0 });
  expect(sentIds()).toEqual(['a', 'c', 'c', 'b']);
});

it.each([[[]], [['--dry-run']], [['--id', 'a']]])(
  'svc events replay refuses a file in which no line is an event (%j)',
  async (argv) => {
    writeFileSync(home.file('j.jsonl'), 'token,merchant\n1,2\n');
    const result = await replay(...argv);
    expect(result.code).toBe(13);
    expect(errorIn(result)).toMatchObject({
      code: 'refused_input',
      message: 'no line of j.jsonl is an event; nothing was sent',
      hint: "Name a file that 'svc events listen --journal' wrote.",
    });
  },
);

it.each([
  ['', [], 'the journal is empty: nothing was sent\n'],
  ['\n', [], 'the journal is empty: nothing was sent\n'],
  [line('a', 0), ['--since', '2027-01-01'], 'no event matches: nothing was sent\n'],
])('svc events replay of %j with %j says that there is nothing to send', async (content, argv, words) => {
  writeFileSync(home.file('j.jsonl'), content);
  expect(await replay(...argv)).toMatchObject({ code: 0, stderr: words });
});

it('svc events replay tells when something went out that the journal hides', async () => {
  writeFileSync(home.file('j.jsonl'), line('a', 0, { redacted: true }));
  const hidden = 'sent with [hidden] or masked digits in place of what was received';
  expect((await replay()).stderr).toContain(`1 event ${hidden}\n`);
  expect((await replay('--dry-run')).stderr).toContain(`1 event would be ${hidden}\n`);
  const failed = await svcIn(home.path, ['events', 'replay', 'j.jsonl', '--forward-to', 'http://127.0.0.1:1/']);
  expect([failed.code === 0, failed.stderr.includes(hidden)], failed.stderr).toEqual([false, false]);
});

it.each<[string, string[], number]>([
  ['an id that is not there', ['j.jsonl', '--forward-to', 'http://127.0.0.1:1/', '--id', 'zz'], 5],
  ['a journal that is not there', ['none.jsonl', '--forward-to', 'http://127.0.0.1:1/'], 1],
  ['no target', ['j.jsonl'], 2],
  ['a target that is not encrypted', ['j.jsonl', '--forward-to', 'http://example.com/'], 2],
])('svc events replay says so for %s', async (_name, argv, expected) => {
  const { code, stderr } = await svcIn(home.path, ['events', 'replay', ...argv]);
  expect(code).toBe(expected);
  expect(JSON.parse(stderr)).toMatchObject({ hint: expect.any(String) });
});
