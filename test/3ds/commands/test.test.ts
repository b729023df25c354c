import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readFault } from '../../../src/emulator/faults/fault.ts';
import { faultInterceptor } from '../../../src/emulator/faults/intercept.ts';
import { sandboxThreeDsCards } from '../../../src/emulator/vault/cards.ts';
import { SvcError } from '../../../src/base/errors.ts';
import { ended, errorIn, succeeded, svcHere } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { startSandbox } from '../../support/sandbox.ts';
import type { ScenarioResult } from '../../../src/3ds/scenario-result.ts';
import { KEYS, openSuites, results } from './suites.ts';
import type { Reply } from './support.ts';
import { SHOWN_DIGITS } from '../../support/card-numbers.ts';

const { clock, directory, scripted, serve, svc } = await openSuites();

/** Makes the service authenticate sessions, and from the given authentication on reply otherwise. */
function serveUntil(limit: number, reply: () => Reply): void {
  let authentications = 0;
  scripted.play(({ method, path }) => {
    if (path === '/3ds/sessions') return [201, { id: 'session-1', type: 'customer' }];
    if (method === 'POST' && (authentications += 1) >= limit) return reply();
    return [200, { authentication_status: 'successful' }];
  });
}

const TWENTY = JSON.stringify({
  scenarios: Array.from({ length: 20 }, (_, at) => ({ name: `scenario ${at}`, token: 'a', expect: 'successful' })),
});

const FRICTIONLESS = 'Successful Frictionless';
const SENT = /^POST .*\/authenticate$/;

/** The report of an earlier run, in which everything passed. */
const GREEN = '<?xml version="1.0"?>\n<testsuites>\n  <testsuite name="3-D Secure" failures="0"/>\n</testsuites>\n';

describe('svc 3ds test', () => {
  it('svc 3ds test fails with 10 where the status is as expected and its reason is not', async () => {
    const scenario = { name: 'a', card: 'Successful Frictionless', outcome: 'reason=card-expired', expect: 'failed' };
    const suite = (reason: string) => JSON.stringify({ scenarios: [{ ...scenario, reason }] });
    const wrong = await svc('test|-|--junit|reasons.xml', suite('stolen-card'));
    expect([wrong.code, results(wrong)[0]]).toEqual([
      10,
      expect.objectContaining({ expected_reason: 'stolen-card', got: 'failed', reason: 'card-expired' }),
    ]);
    expect(readFileSync(join(directory, 'reasons.xml'), 'utf8')).toContain(
      'expected failed (stolen-card), got failed (card-expired)',
    );
    succeeded(await svc('test|-', suite('card-expired')));
  });

  it('svc 3ds test refuses outcomes and reasons that the sandbox does not know, with the line of each', async () => {
    const one = { name: 'a', card: 'Successful Frictionless', expect: 'failed' };
    const scenarios = [
      { ...one, outcome: 'reason=canary' },
      { ...one, name: 'b', reason: 'canary' },
    ];
    ended(
      await svc('test|-', JSON.stringify({ scenarios }, undefined, 1)),
      13,
      'outcome must be an outcome of the sandbox',
      { unsaid: 'canary' },
    );
  });

  it('svc 3ds test sets an outcome at no other service than the sandbox', async () => {
    const scenarios = [{ name: 'a', token: 'tok', outcome: 'reason=card-expired', expect: 'failed' }];
    ended(
      await svc('test|-', JSON.stringify({ scenarios }), 'https://api.example.com'),
      13,
      'an outcome is set at the sandbox',
    );
  });

  it('svc 3ds test takes the cards of the tenant to which the key belongs', async () => {
    const two = await startSandbox({ directory: join(directory, 'two'), clock, tenants: ['test', 'production'] });
    const env = { ...KEYS, SVC_PRIVATE_API_KEY: 'sandbox-2-private-key' };
    const argv = ['3ds', 'test', '--only', 'Frictionless', '--yes'];
    const run = await svcHere(argv, { baseUrl: new URL(two.url), env, clock, cwd: directory });
    await two.close();
    expect([run.code, run.stderr]).toEqual([0, expect.stringContaining('passed, 0 failed')]);
  });

  it.each([
    ['test', '--only', 'Frictionless'],
    ['run', '--card', 'Successful Frictionless'],
  ])('svc 3ds %s authenticates no session of another tenant than that of the profile', async (...words) => {
    const two = await startSandbox({ directory: temporaryDirectory(), clock, tenants: ['test', 'production'] });
    onTestFinished(() => two.close());
    const home = temporaryDirectory();
    const login = ['login', '--base-url', two.url, '--management-key-stdin', '--private-key-stdin'];
    succeeded(await svcHere(login, { home, clock, input: 'sandbox-management-key\nsandbox-2-private-key' }));
    ended(await svcHere(['3ds', ...words], { home, clock }), 3, { stdout: '' }, /session was not authenticated/);
    const paths = two.ledger().map(({ path }) => path);
    expect(paths).toContain('/3ds/sessions');
    expect(paths.filter((path) => path.endsWith('/authenticate'))).toEqual([]);
  });

  it.each([
    [['test', '--only', FRICTIONLESS], 500, 10, { next: expect.stringMatching(/3ds show [0-9a-f-]{36}$/) }],
    [['run', '--card', FRICTIONLESS], 500, 8, { session: expect.stringMatching(/^[0-9a-f-]{36}$/) }],
    [['run', '--card', FRICTIONLESS, '--expect', '404'], 404, 5, { session: expect.stringMatching(/^[0-9a-f-]{36}$/) }],
  ])('svc 3ds %j names the session that it created and cannot read (%i)', async (argv, status, code, error) => {
    const there = await openProduction(`${status}@GET /3ds/sessions/*`);
    ended(await there.svc(...argv), code, { error });
    expect(there.requests(SENT)).toBe(0);
  });

  it.each([
    ['test', '--only', FRICTIONLESS],
    ['run', '--card', FRICTIONLESS],
  ])('svc 3ds %s says once that it cannot check the tenant of a key that may not read sessions', async (...argv) => {
    const there = await openProduction('403@GET /3ds/sessions/*');
    const { stderr } = succeeded(await there.svc(...argv));
    expect(stderr.match(/\(403\), so svc cannot check that the key belongs to the PRODUCTION tenant/g)).toHaveLength(1);
    expect(there.requests(SENT)).toBeGreaterThan(0);
  });

  it('svc 3ds test reads one session to compare the tenant of the key', async () => {
    const there = await openProduction();
    succeeded(await there.svc('test', '--only', FRICTIONLESS));
    expect(there.requests(SENT)).toBeGreaterThan(1);
    expect(there.requests(/^GET \/3ds/)).toBe(1);
  });

  it('svc 3ds test fails with 10 where an outcome differs, and runs the others; open challenges and refusals can be expected', async () => {
    const [card] = sandboxThreeDsCards();
    writeFileSync(join(directory, 'suites.yaml'), SUITE.replace('{intent}', card?.token_intent ?? ''));
    writeFileSync(join(directory, 'body.json'), (await svc('template|payment-transaction')).stdout);
    const template = await svc('template|recurring-transaction|--session-type|merchant');
    writeFileSync(join(directory, 'merchant.json'), template.stdout);
    const run = ended(await svc('test|suites.yaml'), 10);
    const found = Object.fromEntries(results(run).map((one) => [one.scenario, [one.result, one.got, one.reason]]));
    expect(found).toEqual({
      cancels: ['passed', 'failed', 'authentication-attempted-but-not-performed'],
      open: ['passed', 'challenge', null],
      differs: ['failed', 'failed', 'card-authentication-failed'],
      decoupled: ['passed', 'successful', null],
      'decoupled, open': ['passed', 'decoupled_challenge', null],
      refused: ['passed', '424', null],
      intent: ['passed', 'successful', null],
      'no such token': ['failed', 'error', 'rejected-400'],
    });
    expect(run.stderr).toContain('warning: no such token: the service rejected the request (400)');
    expect(errorIn(run)).toMatchObject({ code: 'threshold', message: '6 passed, 2 failed', passed: 6, failed: 2 });
    expect(errorIn(run)['next']).toMatch(/^svc .*3ds show [0-9a-f-]{36}$/);
  });

  it('svc 3ds test takes an expected HTTP status of the creation of a session for the outcome, except 500', async () => {
    for (const [status, expected, code] of [
      [400, 400, 0],
      [404, 404, 0],
      [400, 404, 10],
      [500, 500, 10],
    ]) {
      scripted.play(() => [status ?? 0, { title: 'no' }]);
      const suite = `scenarios: [{name: a, token: nope, expect: ${expected}}]`;
      const run = await svc('test|-', suite, scripted.url);
      expect({ status, expected, code: run.code }).toEqual({ status, expected, code });
      expect(new Set(scripted.lines)).toEqual(new Set(['POST /3ds/sessions']));
    }
    scripted.play(() => [404, { title: 'no' }]);
    ended(await svc('run|--token|nope|--expect|404', '', scripted.url), 0, { row: { got: '404', session: null } });
  });

  it.each([403, 404])('R87: an expected %i is none that another server than the service sends', async (status) => {
    for (const path of ['/3ds/sessions', '/3ds/sessions/s/authenticate']) {
      scripted.play((call) => (call.path === path ? [status, {}] : [201, { id: 's' }]));
      ended(await svc(`run|--token|a|--expect|${status}`, '', scripted.url), status === 404 ? 5 : 4, { stdout: '' });
    }
    const test = await svc('test|-', 'scenarios: [{name: a, token: a, expect: 404}]', scripted.url);
    expect(test.code).not.toBe(0);
  });

  it('svc 3ds test reads a body with an absolute path where the suite is in another directory', async () => {
    serve([200, { authentication_status: 'successful' }]);
    mkdirSync(join(directory, 'suites'), { recursive: true });
    const body = join(directory, 'absolute.json');
    writeFileSync(body, (await svc('template|payment-transaction')).stdout);
    writeFileSync(
      join(directory, 'suites', 'one.yaml'),
      `scenarios: [{name: a, token: a, body: '${body}', expect: successful}]`,
    );
    ended(await svc('test|suites/one.yaml', '', scripted.url), 0, { stderr: '1 passed, 0 failed\n' });
  });

  it('R06: svc 3ds test writes a report with statuses, codes and ids only, private, whatever the service and the names say', async () => {
    const secret = 'tok_canary_77 <b> & "issuer says"';
    serve([200, { authentication_status: secret, authentication_status_reason: secret, cardholder_info: secret }]);
    const name = String.raw`"a <b> & \"c\" \u202e"`;
    const suite = `scenarios:\n  - {name: ${name}, token: tok_canary_77, expect: failed}\n`;
    const run = ended(await svc('test|-|--junit|hostile.xml', suite, scripted.url), 10);
    const file = join(directory, 'hostile.xml');
    expect(readFileSync(file, 'utf8').replaceAll(/time="[\d.]+"/g, 'time=""')).toBe(
      `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="3-D Secure" tests="1" failures="1" errors="0" time="">
    <testcase classname="3ds" name="a &lt;b&gt; &amp; &quot;c&quot; \\u202e" time=""><failure message="expected failed, got unknown; session session-1" type="unknown"/></testcase>
  </testsuite>
</testsuites>
`,
    );
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(run.stdout).not.toContain('canary');
  });

  it('R20: svc 3ds test sends no authentication twice, and counts what ended without an outcome as an error', async () => {
    serve([503, {}]);
    const suite = 'scenarios: [{name: a, token: a, expect: successful}]';
    const run = await svc('test|-|--junit|error.xml', suite, scripted.url);
    expect(scripted.lines).toEqual(['POST /3ds/sessions', 'POST /3ds/sessions/session-1/authenticate']);
    expect(results(run)).toMatchObject([
      { result: 'failed', got: 'error', reason: 'outcome_unknown-503', session: 'session-1' },
    ]);
    expect([run.code, errorIn(run)['next']]).toEqual([10, expect.stringContaining('3ds show session-1')]);
    expect(readFileSync(join(directory, 'error.xml'), 'utf8')).toContain('failures="0" errors="1"');
  });

  it.each([
    [
      'silent',
      9,
      { code: 'outcome_unknown', sessions: ['session-1'], next: expect.stringContaining('show session-1') },
    ],
    [[200, { authentication_status: 'decoupled_challenge' }], 8, { code: 'timeout' }],
  ] as const)(
    'R20: svc 3ds test does not advise another run where --timeout ended authentications (%#)',
    async (reply, code, error) => {
      const limit = new AbortController();
      scripted.play(({ path }) => {
        if (path === '/3ds/sessions') return [201, { id: 'session-1' }];
        if (reply === 'silent' || !path.endsWith('/authenticate')) limit.abort(new SvcError('timeout', 'too late'));
        return reply;
      });
      const input = 'scenarios: [{name: a, token: a, expect: successful}]';
      const { signal } = limit;
      const baseUrl = new URL(scripted.url);
      ended(await svcHere(['3ds', 'test', '-'], { baseUrl, env: KEYS, clock, cwd: directory, input, signal }), code, {
        error: { ...error, retryable: false },
      });
    },
  );

  it('R20: svc 3ds test that --timeout ends before a session exists has sent no authentication', async () => {
    const limit = new AbortController();
    scripted.play(() => {
      limit.abort(new SvcError('timeout', 'too late'));
      return 'silent';
    });
    const input = 'scenarios: [{name: a, token: a, expect: successful}]';
    const options = { env: KEYS, clock, cwd: directory, input, signal: limit.signal };
    const run = await svcHere(['3ds', 'test', '-'], { baseUrl: new URL(scripted.url), ...options });
    expect([run.code, errorIn(run)['code'], scripted.lines]).toEqual([8, 'timeout', ['POST /3ds/sessions']]);
  });

  it('svc 3ds test ends at once where the key is refused: no table, and a report in which each scenario is an error', async () => {
    scripted.play(() => [401, {}]);
    writeFileSync(join(directory, 'refused.xml'), GREEN);
    ended(await svc('test|--junit|refused.xml', '', scripted.url), 4, { stdout: '', error: { code: 'unauthorized' } });
    expect(scripted.calls.length).toBeLessThanOrEqual(6);
    const report = readFileSync(join(directory, 'refused.xml'), 'utf8');
    expect(report).toContain('tests="42" failures="0" errors="42"');
    expect(report).toContain('got error (unauthorized-401)" type="unauthorized-401"');
  });

  it('svc 3ds test prints and reports what ran before an error of the key ended it', async () => {
    serveUntil(12, () => [403, {}]);
    const run = await svc('test|-|--junit|cut.xml', TWENTY, scripted.url);
    const ran = results(run);
    expect([run.code, errorIn(run)['code']]).toEqual([4, 'forbidden']);
    expect(ran.length).toBeGreaterThan(0);
    expect(ran.every(({ result }) => result === 'passed')).toBe(true);
    expect(readFileSync(join(directory, 'cut.xml'), 'utf8')).toContain(
      `tests="20" failures="0" errors="${20 - ran.length}"`,
    );
  });

  it('svc 3ds test prints and reports what ran before it was interrupted', async () => {
    const interrupt = new AbortController();
    writeFileSync(join(directory, 'interrupted.xml'), GREEN);
    let isEarlierThere = true;
    serveUntil(12, () => {
      isEarlierThere = existsSync(join(directory, 'interrupted.xml'));
      interrupt.abort(new SvcError('interrupted', 'interrupted'));
      return [200, { authentication_status: 'successful' }];
    });
    const argv = ['3ds', 'test', '-', '--junit', 'interrupted.xml'];
    const baseUrl = new URL(scripted.url);
    const { signal } = interrupt;
    const run = await svcHere(argv, { baseUrl, env: KEYS, clock, cwd: directory, input: TWENTY, signal });
    expect([run.code, errorIn(run)['code'], isEarlierThere]).toEqual([130, 'interrupted', false]);
    expect(results(run).length).toBeGreaterThan(0);
    expect(readFileSync(join(directory, 'interrupted.xml'), 'utf8')).toContain('type="interrupted"');
  });

  it.each([
    ['its suite is refused', 'test|-|--junit|old.xml', 'scenarios: {}', 13],
    ['no scenario is chosen', 'test|--only|nope|--junit|old.xml', '', 2],
  ])('svc 3ds test leaves no report of an earlier run where %s', async (_, line, suite, code) => {
    scripted.play(() => [500, {}]);
    writeFileSync(join(directory, 'old.xml'), GREEN);
    ended(await svc(line, suite, scripted.url), code);
    expect(existsSync(join(directory, 'old.xml'))).toBe(false);
  });

  it('svc 3ds test keeps the report of an earlier run in a dry run', async () => {
    writeFileSync(join(directory, 'kept.xml'), GREEN);
    await svc('test|--dry-run|--junit|kept.xml', '', scripted.url);
    await svc('test|--dry-run|--only|nope|--junit|kept.xml', '', scripted.url);
    expect(readFileSync(join(directory, 'kept.xml'), 'utf8')).toBe(GREEN);
  });

  it('svc 3ds test --print writes only the scenarios of --only, and refuses a file', async () => {
    const printed = succeeded(await svc('test|--print|--only|Rejected'));
    const names = sandboxThreeDsCards().filter(({ scenario }) => scenario.includes('Rejected'));
    expect(printed.stdout.match(/- name: /g)).toHaveLength(names.length);
    ended(await svc('test|--print|--only|nope'), 2, { stdout: '' });
    for (const form of ['-o|json', '--jq|.', '--fields|name'])
      ended(await svc(`test|--print|${form}`), 2, 'cannot be used with --print', { stdout: '' });
    ended(await svc('test|-|--print', 'scenarios: []'), 2, { stdout: '' }, '--print prints the built-in suite');
  });

  it('R89: svc 3ds test replaces no file that is no report, such as the body of a scenario, and sends nothing', async () => {
    scripted.play(() => [500, {}]);
    const body = (await svc('template|payment-transaction')).stdout;
    writeFileSync(join(directory, 'own-body.json'), body);
    const suite = 'body: own-body.json\nscenarios: [{name: a, token: a, expect: successful}]';
    ended(await svc('test|-|--junit|own-body.json', suite, scripted.url), 2, 'is not a JUnit report');
    expect(readFileSync(join(directory, 'own-body.json'), 'utf8')).toBe(body);
    ended(await svc('test|--junit|-', '', scripted.url), 2, '--junit takes a file');
    expect(scripted.calls).toEqual([]);
  });

  it('svc 3ds test names every problem of a suite by line, and sends nothing', async () => {
    scripted.play(() => [500, {}]);
    const run = await svc('test|-|-o|table', WRONG, scripted.url);
    expect([run.code, scripted.calls]).toEqual([13, []]);
    expect(run.stderr.split('\n').slice(0, 11)).toEqual([
      'error: standard input: 10 problems; nothing was sent',
      '  line 1: unknown member "typ". Did you mean \'type\'?',
      '  line 3: expect is missing',
      '  line 5: unknown member "expcet". Did you mean \'expect\'?',
      '  line 6: exactly one of card, token and token_intent is needed',
      '  line 6: an earlier scenario has the same name',
      expect.stringMatching(/^ {2}line 9: expect must be successful, .*, or an HTTP status such as 424$/),
      '  line 10: a scenario must be an object with name, card and expect',
      '  line 11: name must be a text of one line that contains no card number',
      '  line 12: token must be the id of a token, and no card number',
      '  line 13: type must be customer or merchant',
    ]);
    expect(run.stderr).not.toMatch(SHOWN_DIGITS);
  });

  it.each([
    ['no list', 'scenarios: {}', 13, 'line 1: scenarios must be a list'],
    ['nothing in it', '# later\n', 13, 'scenarios must be a list'],
    ['a member twice', 'scenarios:\n  - name: a\n    name: b\n', 13, 'line 3: a member is given twice'],
    ['a card that is none', 'scenarios:\n  - {name: a, card: Best, expect: failed}', 13, 'line 2: no test card has'],
    [
      'a name for several',
      'scenarios:\n  - {name: a, card: Successful, expect: failed}',
      13,
      'line 2: several scenarios',
    ],
    [
      'a body that is not there',
      'body: none.json\nscenarios:\n  - {name: a, token: a, expect: failed}',
      1,
      'none.json',
    ],
    ['a wrong body', 'body: hostile.json\nscenarios:\n  - {name: a, token: a, expect: failed}', 13, 'hostile.json: '],
  ])('svc 3ds test refuses a suite with %s before anything is sent', async (_, suite, code, words) => {
    writeFileSync(join(directory, 'hostile.json'), '{"authentication_type": "canary"}');
    scripted.play(() => [500, {}]);
    const run = await svc('test|-', suite, scripted.url);
    expect([run.code, scripted.calls], run.stderr).toEqual([code, []]);
    expect(run.stderr).toContain(words);
    expect(run.stderr).not.toContain('canary');
  });

  it('svc 3ds test says where --only finds nothing, and what may not be written, before anything is sent', async () => {
    scripted.play(() => [500, {}]);
    expect(errorIn(await svc('test|--only|nope', '', scripted.url))['message']).toContain('--only');
    ended(await svc(`test|--junit|sandbox`, '', scripted.url), 2);
    expect(scripted.calls).toEqual([]);
  });
});

/** Starts a sandbox with a production tenant, at whose keys a profile is logged in. */
async function openProduction(...faults: readonly string[]) {
  const intercept = faultInterceptor(faults.map((fault) => readFault(fault)));
  const sandbox = await startSandbox({ directory: temporaryDirectory(), clock, tenants: ['production'], intercept });
  onTestFinished(() => sandbox.close());
  const home = temporaryDirectory();
  const login = ['login', '--base-url', sandbox.url, '--management-key-stdin', '--private-key-stdin'];
  succeeded(await svcHere(login, { home, clock, input: 'sandbox-management-key\nsandbox-private-key' }));
  const before = sandbox.ledger().length;
  const requests = (line: RegExp): number =>
    sandbox
      .ledger()
      .slice(before)
      .filter(({ method, path }) => line.test(`${method} ${path}`)).length;
  return { requests, svc: (...argv: readonly string[]) => svcHere(['3ds', ...argv, '--yes'], { home, clock }) };
}

const SUITE = `
body: body.json
scenarios:
  - {name: cancels, card: Successful Challenge, challenge: cancel, expect: failed}
  - {name: open, card: Successful Out, expect: challenge}
  - {name: differs, card: authentication failed, expect: successful}
  - {name: decoupled, card: Successful Challenge, type: merchant, body: merchant.json, expect: successful}
  - {name: 'decoupled, open', card: Successful Mandated, type: merchant, body: merchant.json, expect: decoupled_challenge}
  - {name: refused, card: 3DS, expect: 424}
  - {name: intent, token_intent: '{intent}', expect: successful}
  - {name: no such token, token: nope, expect: successful}
`;

const WRONG = `typ: x
scenarios:
  - name: a
    card: Successful Challenge
    expcet: failed
  - name: a
    card: nothing like this
    token: x
    expect: 324
  - just text
  - name: c 4111 1111 1111 1111
    token: 4111111111111111
    type: both
    expect: failed
`;

describe('svc 3ds run', () => {
  it.each([
    ['--card|Successful Frictionless|--expect|successful', 0, 'successful'],
    ['--card|420000******0007|--expect|rejected', 0, 'rejected'],
    ['--card|successful challenge|--expect|successful', 0, 'successful'],
    ['--card|Successful Challenge|--challenge|cancel|--expect|successful', 10, 'failed'],
    ['--card|Successful Challenge|--type|merchant|--expect|successful', 0, 'successful'],
    ['--card|Internal|--expect|500', 0, '500'],
    ['--card|Internal|--expect|successful', 10, '500'],
    ['--card|3DS Directory|--expect|failed', 10, '424'],
  ])('%s ends with %i: %s', async (line, code, got) => {
    const run = await svc(`run|${line}`);
    expect([run.code, (JSON.parse(run.stdout) as ScenarioResult).got], run.stderr).toEqual([code, got]);
  });

  it('svc 3ds run without --expect shows the outcome, and fails only where there is none', async () => {
    ended(await svc('run|--card|Rejected'), 0, /svc explain rejected\n$/, {
      row: { result: 'completed', expected: null, got: 'rejected' },
    });
    ended(await svc('run|--card|Internal'), 9);
    ended(await svc('run|--card|Rejected|--expect-reason|card-expired'), 10);
    ended(await svc('run|--expect|failed'), 2);
  });

  it('svc 3ds run says what was expected, what came, and where to look', async () => {
    const run = await svc('run|--card|Authentication Failed|--expect|successful');
    const { session } = JSON.parse(run.stdout) as ScenarioResult;
    expect(errorIn(run)).toMatchObject({
      code: 'threshold',
      message: 'expected successful, got failed (card-authentication-failed)',
      next: expect.stringContaining(`3ds show ${session}`),
      expected: 'successful',
      got: 'failed',
    });
  });

  it('svc 3ds run leaves a challenge at any other address to the cardholder, and waits for it no longer than it may', async () => {
    serve([200, { authentication_status: 'challenge', acs_challenge_url: 'https://issuer.example/acs' }]);
    const line = 'run|--token|a|--expect|successful|--challenge-timeout|20s';
    const run = await svc(line, '', scripted.url);
    expect([run.code, (JSON.parse(run.stdout) as ScenarioResult).got]).toEqual([10, 'challenge']);
    expect(run.stderr).toContain('completes the challenge at https://issuer.example/acs');
    expect(scripted.lines.filter((call) => call.startsWith('POST'))).toHaveLength(2);
  });

  it('R43: svc 3ds run without --expect ends with 11 while the challenge is open, and says how to read the outcome', async () => {
    serve([200, { authentication_status: 'challenge', acs_challenge_url: 'https://issuer.example/acs' }]);
    const run = await svc('run|--token|a|--challenge-timeout|20s', '', scripted.url);
    const { result, session } = JSON.parse(run.stdout) as ScenarioResult;
    expect([run.code, result, errorIn(run)['retryable']]).toEqual([11, 'open', false]);
    expect(errorIn(run)['next']).toMatch(new RegExp(`3ds challenge-result ${session} --wait$`));
  });

  it('svc 3ds run puts --set into the example body, or into that of a file', async () => {
    serve([200, { authentication_status: 'successful' }]);
    const line = 'run|--token|a|--expect|successful|--set|purchase_info.amount=4200|--set|purchase_info.currency=EUR';
    succeeded(await svc(line, '', scripted.url));
    expect(scripted.calls[1]?.body).toMatchObject({ purchase_info: { amount: '4200', currency: '978' } });
    ended(await svc(`${line}|--set|purchase_info.amount=4.2`, '', scripted.url), 13, { stdout: '' });
  });

  it.each([
    ['--expect|successful', 2],
    ['--card|Authentication Failed|--token|a|--expect|failed', 2],
    ['--card|Authentication Failed|--expect|bad', 2],
    ['--card|Successful|--expect|successful', 2],
    ['--card|4111111111111111|--expect|rejected', 13],
    ['--token|4111111111111111|--expect|successful', 13],
  ])('%s is refused with %i before anything is sent', async (line, code) => {
    scripted.play(() => [500, {}]);
    const run = await svc(`run|${line}`, '', scripted.url);
    expect([run.code, scripted.calls], run.stderr).toEqual([code, []]);
    expect(run.stderr).not.toMatch(SHOWN_DIGITS);
  });

  it('svc 3ds run knows test cards of the sandbox alone: at another service the id of a token is needed', async () => {
    ended(await svc('run|--card|Authentication Failed|--expect|failed', '', 'https://svc.example'), 2, {
      error: { hint: expect.stringContaining('--token') },
    });
  });
});
