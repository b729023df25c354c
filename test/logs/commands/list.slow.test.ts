import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { passTime } from '../../support/passing-time.ts';
import { type HereResult, svcHere } from '../../support/run-here.ts';
import { logAgo, type LogServer, startLogServer } from './log-server.ts';

let server: LogServer;

beforeEach(async () => {
  server = await startLogServer();
});

function svc(argv: readonly string[]): Promise<HereResult> {
  const clock = new FakeClock({ start: Date.now(), auto: false });
  const env = { SVC_MANAGEMENT_API_KEY: 'a-key', SVC_BASE_URL: server.url, SVC_PACING: 'off' };
  return passTime(clock, svcHere(argv, { clock, env }), () => server.requests);
}

function csv(...more: string[]): Promise<HereResult> {
  return svc(['logs', '--fields', 'message', ...more]);
}

/** Returns the words of the command that stderr names. */
function commandIn(stderr: string): string[] {
  const words = /^ *(?:Next: |next: )?.*?svc (.*)$/m.exec(stderr)?.[1]?.match(/'[^']*'|\S+/g) ?? [];
  return words.map((word) => word.replaceAll("'", ''));
}

describe('svc logs list', () => {
  it.each([
    ['logs', 'list'],
    ['logs', 'tail', '--since', '1h', '--idle-exit', '1s'],
  ])('svc %s %s finds an entity by its id alone, even when the service ignores such a filter', async (...argv) => {
    for (const id of ['one', 'two', 'ONE']) server.logs.push(logAgo(600_000, `entry ${id}`, { entity_id: id }));
    const { code, stdout } = await svc([...argv, '--entity-id', 'one', '-o', 'jsonl', '--fields', 'message,+new']);
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n').toSorted()).toEqual(['{"message":"entry ONE"}', '{"message":"entry one"}']);
  });

  it('R27: svc logs continues where a cursor expired, without loss or duplicates', async () => {
    server.pagesPerCursor = 3;
    for (let index = 0; index < 950; index += 1)
      server.logs.push(logAgo(Math.floor(index / 7) * 1_000, `entry ${index - (index % 3)}`));
    const { code, stdout } = await svc(['logs', '--all', '-o', 'jsonl']);
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    const times = lines.map((line) => (JSON.parse(line) as { created_at: string }).created_at);
    expect(times).toEqual(times.toSorted().toReversed());
    expect(lines.toSorted()).toEqual(server.logs.map((log) => JSON.stringify(log)).toSorted());
    expect(server.requests).toBeGreaterThan(12);
  });

  it('svc logs writes CSV as sent, and safe for a spreadsheet with --excel-safe', async () => {
    for (const message of ['=1+1', '-2', 'plain']) server.logs.push(logAgo(1_000, message));
    expect((await csv('-o', 'csv')).stdout.split('\n').toSorted()).toEqual(['', '-2', '=1+1', 'message', 'plain']);
    expect((await csv('-o', 'csv', '--excel-safe')).stdout.split('\n').toSorted()).toEqual([
      '',
      "'-2",
      "'=1+1",
      'message',
      'plain',
    ]);
    expect((await csv('--excel-safe')).code).toBe(2);
  });

  it('svc logs warns that a service lists its oldest entries first where the entries show it, without another request', async () => {
    for (const ago of [9_000, 9_000, 5_000, 1_000]) server.logs.push(logAgo(ago, `${ago} ago`));
    server.isOldestFirst = true;
    const oldest = await csv('-o', 'jsonl', '--limit', '3');
    expect(oldest.stdout.split('\n')[0]).toBe('{"message":"9000 ago"}');
    expect(oldest.stderr).toContain(
      'warning: this service lists its oldest entries first: these are the oldest of the log, not the newest\n',
    );
    expect((await csv('-o', 'jsonl', '--limit', '2')).stderr).not.toContain('warning');
    expect(server.requests).toBe(2);
    expect((await csv('-o', 'jsonl', '--all')).stderr).toBe('');
    server.isOldestFirst = false;
    expect((await csv('-o', 'jsonl', '--limit', '3')).stderr).not.toContain('oldest');
  });

  it.each([400, 429, 503])(
    'R86: svc logs -n 1 needs one request, so that a later %i cannot fail it',
    async (status) => {
      for (const ago of [1_000, 2_000]) server.logs.push(logAgo(ago, `${ago} ago`));
      Object.assign(server, { refusal: status, refuseAfter: 1 });
      expect(await csv('-o', 'jsonl', '-n', '1')).toMatchObject({ code: 0, stdout: '{"message":"1000 ago"}\n' });
      expect(server.requests).toBe(1);
    },
  );

  it('R26: svc logs reads on after empty pages, and prints the newest entries that exist', async () => {
    server.logs.push(logAgo(1_000, 'newest'), logAgo(2_000, 'older'));
    server.emptyPages = 7;
    for (const argv of [[], ['-n', '1'], ['--all'], ['--operation', 'create']]) {
      const { code, stdout, stderr } = await csv('-o', 'jsonl', ...argv);
      expect({ code, first: stdout.split('\n')[0] }).toEqual({ code: 0, first: '{"message":"newest"}' });
      expect(stderr).not.toContain('no log entries');
    }
    server.logs.length = 0;
    expect(await csv('-o', 'jsonl')).toMatchObject({ code: 0, stdout: '', stderr: 'no log entries\n' });
  });

  it('R26: svc logs gives up after 1,000 empty pages in a row, with what it searched and the command that goes on', async () => {
    server.logs.push(logAgo(1_000, 'newest'));
    server.emptyPages = 1_500;
    const { code, stdout, stderr } = await csv(
      '-o',
      'table',
      '--since',
      '2h',
      '--page-size',
      '50',
      '--entity-type',
      'token',
    );
    expect({ code, stdout }).toEqual({ code: 12, stdout: '' });
    expect(stderr).toContain('1,000 empty pages in a row');
    expect(stderr).toContain('searched 0 entries');
    expect(server.requests).toBe(1_000);
    expect(await svc(commandIn(stderr))).toMatchObject({ code: 0, stdout: expect.stringContaining('newest') });
    expect(server.requests).toBe(1_501);
  });

  it('R26: svc logs prints the whole command for the next page, with absolute times', async () => {
    for (let index = 0; index < 60; index += 1) server.logs.push(logAgo(index * 60_000, `entry ${index}`));
    const filters = ['--since', '2h', '--until', '0s', '--entity-type', 'token', '--page-size', '3', '--strict'];
    const seen: string[] = [];
    let words = ['logs', '-o', 'jsonl', '--fields', 'message', ...filters, '--retention', '30h'];
    for (let page = 0; page < 3; page += 1) {
      const { code, stdout, stderr } = await svc(words);
      expect(code).toBe(0);
      seen.push(...stdout.trimEnd().split('\n'));
      words = commandIn(stderr);
      expect(words).toEqual(expect.arrayContaining(['--page-size', '--strict', '--retention', '30h']));
      expect(words[words.indexOf('--since') + 1]).toMatch(/^\d{4}-.*Z$/);
    }
    expect(seen).toHaveLength(9);
    expect(new Set(seen).size).toBe(9);
  });

  it('svc logs says that there are more results, and says nothing where the limit ended the list', async () => {
    for (let index = 0; index < 60; index += 1) server.logs.push(logAgo(index * 60_000, `entry ${index}`));
    const page = await csv('-o', 'jsonl', '--page-size', '3');
    expect(page.stderr).toMatch(/^more results:\n {2}svc logs list .*--start \S+.*\n$/);
    const cut = await csv('-o', 'jsonl', '--limit', '3');
    expect(cut.stderr).toBe('');
  });

  it('svc logs names members without a CSV column once, and none with --fields', async () => {
    const more: object = { brand_new: { name: 'a' }, other: [1] };
    for (const ago of [1_000, 2_000, 3_000]) server.logs.push(logAgo(ago, 'one', more));
    const left = await svc(['logs', '-o', 'csv', '--limit', '2', '--page-size', '1']);
    expect(left.stdout).not.toContain('brand_new');
    expect(left.stderr.match(/^left out.*$/gm)).toEqual([
      'left out, as no column is known for them: brand_new.name, other (use -o jsonl, or --fields with +name)',
    ]);
    const chosen = await csv('-o', 'csv', '--fields', 'message,+other');
    expect(chosen).toMatchObject({ stdout: expect.stringContaining('one,[1]'), stderr: '' });
  });

  it('R31: svc logs warns of an interval that begins before retention, and exits with 14 with --strict', async () => {
    server.logs.push(logAgo(3_600_000, 'kept'));
    const argv = ['--all', '-o', 'jsonl', '--quiet', '--since', '30h'];
    const loose = await csv(...argv);
    expect(loose).toMatchObject({ code: 0, stdout: '{"message":"kept"}\n' });
    expect(loose.stderr).toMatch(/^warning: entries may be missing from \S+ \S+Z to \S+ \S+Z: older than .*\n$/);
    expect((await csv(...argv, '--strict')).code).toBe(14);
    expect(await csv(...argv, '--strict', '--retention', '48h')).toMatchObject({ code: 0, stderr: '' });
    expect(await csv('--all', '-o', 'jsonl', '--quiet', '--since', '23h', '--strict')).toMatchObject({ code: 0 });
  });

  it('svc logs ends with 2 for an unknown type or operation near a known one, which it suggests, without more requests', async () => {
    server.logs.push(logAgo(60_000, 'one', { operation: 'tokenize' }));
    const quiet = ['-o', 'jsonl', '--quiet'];
    expect(await csv(...quiet, '--operation', 'craete', '--operation', 'tokenize')).toMatchObject({
      code: 2,
      stdout: '{"message":"one"}\n',
      stderr: expect.stringMatching(/unknown operation \\"craete\\".*"Did you mean 'create'\?"/),
    });
    const secret = 'k3y'.repeat(12);
    expect((await csv(...quiet, '--operation', secret)).stderr).toMatch(/^warning: unknown operation \(not shown/);
    server.logs.push(logAgo(60_000, 'two', { actor_type: 'user' }));
    expect(await csv(...quiet, '--actor-type', 'usr')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/unknown actor type \\"usr\\".*"Did you mean 'user'\?"/),
    });
    server.logs.length = 0;
    expect(await csv(...quiet, '--entity-type', 'crad')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/unknown entity type \\"crad\\".*"Did you mean 'card'\?"/),
    });
    expect(await csv(...quiet, '--entity-type', 'card', '--operation', 'read')).toMatchObject({ stderr: '' });
    expect(server.requests).toBe(5);
  });

  it('svc logs reads past pages without a match to the end of the log, and reports what it searched', async () => {
    for (let index = 0; index < 600; index += 1)
      server.logs.push(logAgo(index * 1_000, `entry ${index}`, { operation: index % 200 === 199 ? 'delete' : 'read' }));
    const found = await csv('--operation', 'delete', '-o', 'jsonl');
    expect(found.stdout.trimEnd().split('\n')).toEqual(
      [199, 399, 599].map((index) => JSON.stringify({ message: `entry ${index}` })),
    );
    expect(found.stderr).toMatch(
      /^3 matches in the 600 entries read, from \S+ \S+Z to \S+ \S+Z \(--operation is filtered client-side\)\n$/,
    );
    expect(server.requests).toBe(6);
    const none = await csv('--grep', 'nothing', '-o', 'jsonl');
    expect(none.stderr).toMatch(/^no match in the 600 entries read, from .*\n$/);
  });

  it('svc logs stops at the limit, or at 100 matches without one', async () => {
    for (let index = 0; index < 500; index += 1)
      server.logs.push(logAgo(index * 1_000, `entry ${index}`, { operation: index % 2 === 0 ? 'create' : 'read' }));
    const some = await csv('--exclude-operation', 'read', '-o', 'jsonl');
    expect(some.stdout.trimEnd().split('\n')).toHaveLength(100);
    expect(commandIn(some.stderr)).toEqual(expect.arrayContaining(['--start', '200']));
    const one = await csv('--exclude-operation', 'read', '-o', 'jsonl', '--limit', '1');
    expect(one.stdout).toBe('{"message":"entry 0"}\n');
    expect(one.stderr).not.toContain('more results');
  });

  it.each([
    ['its cursor', Infinity, /--start \d+/],
    ['a time where its cursor expired', 150, /--until \S+Z/],
  ])(
    'svc logs stops after 20,000 entries, and prints a command that continues the search by %s',
    async (_, life, rest) => {
      server.pagesPerCursor = life;
      for (let index = 0; index < 20_150; index += 1)
        server.logs.push(logAgo(index * 1_000, index === 20_140 ? 'the one' : 'other'));
      const first = await csv('--grep', 'the one', '-o', 'jsonl', '--exclude-entity-type', 'card');
      expect(first).toMatchObject({ code: 0, stdout: '' });
      expect(first.stderr).toMatch(
        /\nsearched 20,\d{3} entries, from \S+ \S+Z to \S+ \S+Z; to search on\n {2}svc logs list /,
      );
      expect(first.stderr).not.toContain('no log entries');
      const words = commandIn(first.stderr);
      expect(words.join(' ')).toMatch(rest);
      const second = await svc(words);
      expect(second).toMatchObject({ code: 0, stdout: '{"message":"the one"}\n' });
    },
  );
});
