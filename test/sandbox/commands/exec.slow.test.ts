import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { expectation, peakRate, rateLimit, unmet } from '../../../src/sandbox/commands/exec.ts';
import { finished, Home, LAUNCHER } from '../../support/svc.ts';
import { until } from '../../support/until.ts';
import { rowsIn } from '../../support/run-here.ts';

const home = new Home();

const SVC = [process.execPath, LAUNCHER];

/** Runs a command with `svc sandbox exec`. */
function exec(options: readonly string[], command: readonly string[], env: Record<string, string> = {}) {
  return home.svc(['sandbox', 'exec', ...options, '--', ...command], { env: { TMPDIR: home.path, ...env } });
}

const node = (code: string, ...words: string[]) => [process.execPath, '-e', code, ...words];

/** A script that requests the paths in its arguments, one after the other. */
const ASK = `
  const ask = (path) => fetch(process.env.SVC_BASE_URL + path, {
    headers: { 'svc-api-key': process.env.SVC_MANAGEMENT_API_KEY } });
  (async () => { for (const path of process.argv.slice(1)) await ask(path).catch(() => 0); })();`;

describe('svc sandbox exec', () => {
  it('svc sandbox exec runs the command against a sandbox of its own, and leaves nothing', async () => {
    const { code, stdout, stderr } = await exec([], [...SVC, 'logs', '-n', '3', '-o', 'jsonl'], {
      SVC_PROFILE: 'nowhere',
      SVC_API_KEY: 'a-key-for-elsewhere',
      SVC_MANAGEMENT_API_KEY_FILE: '/nonexistent',
      HTTP_PROXY: 'http://127.0.0.1:1',
    });
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => typeof JSON.parse(line)),
    ).toEqual(Array<string>(3).fill('object'));
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/the sandbox received 1 request, 0 errors, at most 1 in 1 s and 1 in 10 s\n$/),
    ]);
    expect(readdirSync(home.path).filter((name) => name.startsWith('svc-sandbox-'))).toEqual([]);
  });

  it('svc sandbox exec runs svc against its own sandbox also where the current profile is the embedded one', async () => {
    expect(await home.svc(['profile', 'use', 'sandbox'])).toMatchObject({ code: 0 });
    const ended = await exec(['--fault', '400@GET /logs'], [...SVC, 'logs', '-n', '1']);
    expect(await home.svc(['profile', 'use', 'default'])).toMatchObject({ code: 0 });
    expect([ended.code, ended.stdout], ended.stderr).toEqual([6, '']);
    expect(ended.stderr).toContain('the sandbox received 1 request');
  });

  it('svc sandbox exec gives the command its own environment, and everything after -- as it is', async () => {
    const { code, stdout } = await exec(
      [],
      node('console.log(JSON.stringify([process.env, process.argv.slice(1)]))', '--', '--help', '-o', '*'),
      { SVC_API_KEY: 'elsewhere', SVC_PROFILE: 'x', KEPT: 'yes' },
    );
    const [env, words] = JSON.parse(stdout) as [Record<string, string>, string[]];
    expect([code, words]).toEqual([0, ['--help', '-o', '*']]);
    expect(env).toMatchObject({
      SVC_BASE_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      SVC_MANAGEMENT_API_KEY: 'sandbox-management-key',
      SVC_PRIVATE_API_KEY: 'sandbox-private-key',
      KEPT: 'yes',
    });
    expect([env['SVC_API_KEY'], env['SVC_PROFILE']]).toEqual([undefined, 'default']);
    expect(Object.keys(env).filter((name) => name.startsWith('AWS_'))).toEqual([]);
  });

  it('R55: svc sandbox exec ends as the command ended: its code, 128 and the signal, 127 for none', async () => {
    expect((await exec([], node('process.exit(7)'))).code).toBe(7);
    expect((await exec([], node('process.kill(process.pid, "SIGKILL")'))).code).toBe(137);
    const none = await exec(['--expect', 'GET /logs>=1'], ['no-such-command-anywhere']);
    expect([none.code, none.stderr]).toEqual([127, expect.stringContaining('could not be started (ENOENT)')]);
    expect((await exec([], ['no-such-command'])).stderr).toContain(
      'the command "no-such-command" could not be started',
    );
    writeFileSync(home.file('text'), 'no program');
    expect((await exec([], [home.file('text')])).code).toBe(126);
    expect((await home.svc(['sandbox', 'exec'])).code).toBe(2);
    const tooLong = await exec([], ['a'.repeat(5_000)]);
    expect([tooLong.code, tooLong.stderr]).toEqual([126, expect.stringContaining('(ENAMETOOLONG)')]);
  });

  it('R55: svc sandbox exec ends with 8 when its time is over, and not with the code of a signal', async () => {
    const { code, stderr } = await exec(['--timeout', '300ms'], node('setTimeout(() => {}, 600_000)'));
    expect([code, JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '')]).toMatchObject([8, { code: 'timeout' }]);
  });

  it('svc sandbox exec counts requests, errors and the peak', async () => {
    const { stderr } = await exec(
      ['--fault', '503@GET /logs:#2-3', '--fault', 'reset@GET /logs:#4'],
      node(ASK, '/logs', '/logs', '/logs', '/logs', '/nothing'),
    );
    // How many requests come within a second is up to the machine.
    expect(stderr).toMatch(
      /the sandbox received 5 requests, 4 errors \(503 × 2, no response × 1, 404 × 1\), at most [1-5] in 1 s and [1-5] in 10 s/,
    );
  });

  it('svc sandbox exec warns of each fault that applied to no request', async () => {
    // The fault before it applies to the second request.
    writeFileSync(home.file('late.txt'), '503@GET /logs:#3\n504@GET /logs:#2\n');
    const options = ['--fault', '503@GET /log', '--fault', '503@GET /logs:#2', '--scenario', 'late.txt'];
    const { code, stderr } = await exec(options, node(ASK, '/logs', '/logs'));
    expect([code, stderr.match(/the fault .*/g)]).toEqual([
      0,
      ['503@GET /log', '503@GET /logs:#3', '504@GET /logs:#2'].map(
        (fault) => `the fault '${fault}' applied to no request`,
      ),
    ]);
  });

  it('R55: svc sandbox exec ends with 10 when what was expected is not so, whatever the command says', async () => {
    const gates = ['--expect', 'GET /logs>=2', '--expect', 'DELETE **=0', '--max-rate', '3/10s'];
    expect((await exec(gates, node(ASK, '/logs?size=1', '/logs'))).code).toBe(0);
    const few = await exec(gates, node(`${ASK}; process.exitCode = 3`, '/logs'));
    expect(few.code).toBe(10);
    const error = JSON.parse(few.stderr.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;
    expect(error).toMatchObject({
      code: 'threshold',
      unmet: ['GET /logs called once, expected >=2'],
      exit_code: 10,
      command_exit_code: 3,
      hint: expect.stringContaining('exit code 3'),
    });
    const many = await exec(gates, node(ASK, ...Array<string>(4).fill('/logs')));
    expect([many.code, many.stderr]).toEqual([10, expect.stringContaining('4 requests within 10 s')]);
  });

  it('svc sandbox exec refuses gates and faults that make no sense before anything is started', async () => {
    writeFileSync(home.file('scenario.txt'), '429@GET /logs\nnever');
    for (const [option, given, words] of [
      ['--expect', 'logs', '--expect must be a method'],
      ['--max-rate', '10', '--max-rate must be a number'],
      ['--fault', 'never', '--fault: expected an effect'],
      ['--scenario', 'scenario.txt', '--scenario: fault 2: expected an effect'],
      ['--scenario', 'missing.txt', 'does not exist'],
      ['--webhook', 'https://example.com/canary', '--webhook must be'],
    ] as const) {
      const { code, stderr } = await exec([option, given], node('require("fs").writeFileSync("started", "")'));
      expect([option, code, stderr]).toEqual([option, 2, expect.stringContaining(words)]);
      expect(stderr).not.toContain('canary');
    }
    expect(existsSync(join(home.path, 'started'))).toBe(false);
  });

  it('svc sandbox exec keeps the state where it is told to', async () => {
    const place = ['--directory', home.file('kept'), '--logs', '5'];
    await exec(place, [...SVC, 'au', 'create']);
    const { stdout } = await exec(place, [...SVC, 'au', 'jobs', '-o', 'jsonl']);
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    const seen = await home.svc(['sandbox', 'requests', '--directory', home.file('kept'), '-o', 'jsonl']);
    expect(rowsIn<unknown>(seen.stdout)).toMatchObject([
      { method: 'POST', path: '/account-updater/jobs', status: 201, key: 'sandbox-private-key', application: 2 },
      { method: 'GET', status: 200 },
    ]);
    const last = await home.svc(['sandbox', 'requests', '--directory', home.file('kept'), '-n', '1', '-o', 'json']);
    expect(JSON.parse(last.stdout)).toMatchObject([{ method: 'GET' }]);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('R53: svc sandbox exec hands %s on, ends after the command, and leaves nothing', async (signal, code) => {
    const child = home.start(
      [
        'sandbox',
        'exec',
        '--',
        ...node(`
        for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => {
          console.log('got', name);
          setTimeout(() => process.exit(name === 'SIGINT' ? 130 : 143), 50);
        });
        setInterval(() => 0, 1000);
        console.log('ready');`),
      ],
      { env: { TMPDIR: home.path } },
    );
    const end = finished(child);
    child.stdout.once('data', () => child.kill(signal));
    const { code: ended, stdout } = await end;
    expect([ended, stdout]).toEqual([code, `ready\ngot ${signal}\n`]);
    expect(readdirSync(home.path).filter((name) => name.startsWith('svc-sandbox-'))).toEqual([]);
  });

  it('R53: a second Ctrl-C ends svc sandbox exec at once, though its command takes no notice of the first', async () => {
    const script =
      "process.on('SIGINT', () => console.log('noticed')); setInterval(() => 0, 1000); console.log(process.pid)";
    const child = home.start(['sandbox', 'exec', '--', ...node(script)], { env: { TMPDIR: home.path } });
    const exit = once(child, 'exit');
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
    await until(() => printed.includes('\n'));
    onTestFinished(() => void process.kill(Number(printed.split('\n')[0]), 'SIGKILL'));
    child.kill('SIGINT');
    await until(() => printed.includes('noticed'));
    child.kill('SIGINT');
    expect(await exit).toEqual([130, null]);
  });
});

describe('an expectation', () => {
  it.each([
    ['GET /logs>=1', { call: 'GET /logs', operator: '>=', count: 1 }],
    ['GET /logs', { call: 'GET /logs', operator: '>=', count: 1 }],
    ['* /3ds/**=0', { call: '* /3ds/**', operator: '=', count: 0 }],
    ['POST /a/*<3', { call: 'POST /a/*', operator: '<', count: 3 }],
    ['PUT **<=3', { call: 'PUT **', operator: '<=', count: 3 }],
  ])('an expectation reads %s', (text, expected) => {
    expect(expectation(text)).toEqual(expected);
  });

  it.each(['', '/logs', 'get /logs', 'GET logs', 'GET /logs>=', 'GET /logs>=x', 'GET /logs==1', 'GET  /logs'])(
    'an expectation refuses %j',
    (text) => {
      expect(() => expectation(text)).toThrow('must be a method, a path and a count');
    },
  );

  it.each([
    ['>=', [1, 2]],
    ['<=', [0, 1]],
    ['=', [1]],
    ['>', [2]],
    ['<', [0]],
  ] as const)('an expectation with %s 1 is met by %j', (operator, met) => {
    const seen = [0, 1, 2].filter(
      (count) =>
        unmet({ expect: [{ call: 'x', operator, count: 1 }], maxRate: undefined }, [], () => count).length === 0,
    );
    expect(seen).toEqual(met);
  });
});

describe('a rate', () => {
  it('a rate is a number of requests in a time', () => {
    expect(rateLimit('10/10s')).toEqual({ requests: 10, ms: 10_000 });
    expect(rateLimit('200/1m')).toEqual({ requests: 200, ms: 60_000 });
    for (const text of ['', '10', '10/', '/10s', '10/0s', '10/10', '-1/1s', '1.5/1s'])
      expect(() => rateLimit(text), text).toThrow('such as 10/10s');
  });

  it('a rate is the most that any span holds: the span after its end is another', () => {
    expect(peakRate([], 1000)).toBe(0);
    expect(peakRate([0, 999, 1000, 1999], 1000)).toBe(2);
    fc.assert(
      fc.property(fc.array(fc.nat(300)), fc.integer({ min: 1, max: 50 }), (times, ms) => {
        const plain = times.map((from) => times.filter((time) => time >= from && time < from + ms).length);
        expect(peakRate(times, ms)).toBe(Math.max(0, ...plain));
      }),
    );
  });

  it('a rate is told when it was too high', () => {
    const gates = { expect: [], maxRate: { requests: 2, ms: 1000 } };
    expect(unmet(gates, [0, 1, 1001], () => 0)).toEqual([]);
    expect(unmet(gates, [0, 1, 999], () => 0)).toEqual(['3 requests within 1 s, expected at most 2']);
  });
});
