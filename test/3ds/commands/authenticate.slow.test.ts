import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ended, errorIn, succeeded } from '../../support/run-here.ts';
import { FakeClock } from '../../support/clock.ts';
import { changed, fullBody } from '../bodies.ts';
import { Place, type Reply, Scripted } from './support.ts';
import { SHOWN_DIGITS } from '../../support/card-numbers.ts';

const place = new Place();
let server: Scripted;
beforeAll(async () => (server = await Scripted.start()));
afterAll(() => server.close());
beforeEach(() => place.file('body.json', fullBody()));

const RESULT = {
  threeds_version: '2.2.0',
  acs_transaction_id: 'acs-1',
  ds_transaction_id: 'ds-1',
  acs_reference_number: 'r1',
  ds_reference_number: 'r2',
  authentication_value: 'CAVVsecretCAVVsecret',
  authentication_status: 'successful',
  eci: '05',
};

const SESSION = {
  id: 's1',
  type: 'customer',
  token_id: 't1',
  card_brand: 'Visa',
  expiration_date: '2099-01-01T00:00:00Z',
  device: 'browser',
  device_info: {
    browser_ip_address: '203.0.113.9',
    browser_user_agent: 'Agent of Ann',
    browser_color_depth: '24',
    later_field: 'unheard of',
  },
  version: { recommended_version: '2.2.0', available_version: ['2.1.0', '2.2.0'] },
  authentication: {
    ...RESULT,
    authentication_status_reason: 'high-confidence',
    cardholder_info: 'Call us, Ann',
    message_extensions: [{ id: '1', name: 'n', critical: false, data: { any: 'private' } }],
  },
  later: 'kept',
};

/** The session before it was authenticated. */
const FRESH = { ...SESSION, authentication: null };

/** Makes the server reply by `METHOD /path`. It uses up a list in order, then repeats the last reply. */
function script(replies: Readonly<Record<string, Reply | readonly Reply[]>>): void {
  const used = new Map<string, number>();
  server.play(({ method, path }) => {
    const line = `${method} ${path}`;
    const found = replies[line];
    if (found === undefined) return [404, { title: 'no such thing' }];
    if (!isList(found)) return found;
    const at = used.get(line) ?? 0;
    used.set(line, at + 1);
    return found[Math.min(at, found.length - 1)] ?? 'torn';
  });
}

function isList(found: Reply | readonly Reply[]): found is readonly Reply[] {
  return Array.isArray(found) && Array.isArray(found[0]);
}

const READ = 'GET /3ds/sessions/s1';
const SEND = 'POST /3ds/sessions/s1/authenticate';
const CHALLENGE = 'GET /3ds/sessions/s1/challenge-result';

/** Authenticates a session as a machine that has authenticated none. */
function authenticate(...more: readonly string[]): ReturnType<Place['svc']> {
  rmSync(join(place.path, '.local/state/svc/3ds-sessions.json'), { force: true });
  return place.svc(['3ds', 'authenticate', 's1', '--file', 'body.json', ...more], { server, clock: new FakeClock() });
}

function authenticateIn(env: Readonly<Record<string, string>>, ...more: readonly string[]): ReturnType<Place['svc']> {
  rmSync(join(place.path, '.local/state/svc/3ds-sessions.json'), { force: true });
  return place.svc(['3ds', 'authenticate', 's1', '--file', 'body.json', ...more], { server, env });
}

describe('3ds create', () => {
  it('svc 3ds create sends exactly one token and the type, and says how to continue', async () => {
    script({
      'POST /3ds/sessions': [200, { id: 's1', type: 'customer', method_url: 'https://acs.example/m', cardBrand: 'x' }],
    });
    const { code, stdout, stderr } = await place.svc(['3ds', 'create', '--token', 't1', '--type', 'customer'], {
      server,
    });
    expect({ code, id: (JSON.parse(stdout) as { id: string }).id }).toEqual({ code: 0, id: 's1' });
    expect(JSON.parse(stdout)).toHaveProperty('cardBrand');
    expect(stderr).toContain('svc 3ds authenticate s1 --file');
    expect(server.calls.map(({ body }) => body)).toEqual([{ token_id: 't1', type: 'customer' }]);
    await place.svc(['3ds', 'create', '--token-intent', 'i1', '--type', 'merchant'], { server });
    expect(server.calls[1]?.body).toEqual({ token_intent_id: 'i1', type: 'merchant' });
  });

  it('svc 3ds create sends a card token by its deprecated name, and says so', async () => {
    script({ 'POST /3ds/sessions': [200, { id: 's1' }] });
    const argv = ['3ds', 'create', '--pan-token', 't1', '--type', 'customer'];
    const { code, stderr } = await place.svc(argv, { server });
    expect({ code, sent: server.calls.map(({ body }) => body) }).toEqual({
      code: 0,
      sent: [{ pan: 't1', type: 'customer' }],
    });
    expect(stderr).toContain('pan is deprecated: use --token instead');
  });

  it.each([
    [['--type', 'customer'], 2],
    [['--pan-token', 'p', '--token', 't', '--type', 'customer'], 2],
    [['--pan-token', '4111111111111111', '--type', 'customer'], 13],
    [['--token', 't', '--token-intent', 'i', '--type', 'customer'], 2],
    [['--token', 't', '--type', 'browser'], 2],
    [['--token', '', '--type', 'customer'], 2],
    [['--token', '4111 1111 1111 1111', '--type', 'customer'], 13],
    [['--token-intent', '4111111111111111', '--type', 'customer'], 13],
  ])('R57: %j ends in exit %i before anything is sent', async (argv, code) => {
    script({});
    const run = await place.svc(['3ds', 'create', ...argv], { server });
    expect({ code: run.code, calls: server.lines, stdout: run.stdout }).toEqual({ code, calls: [], stdout: '' });
    expect(run.stderr).not.toMatch(SHOWN_DIGITS);
  });

  it('R20: svc 3ds create is not repeated when the connection breaks', async () => {
    script({ 'POST /3ds/sessions': 'torn' });
    const { code, stderr } = await place.svc(['3ds', 'create', '--token', 't', '--type', 'customer'], { server });
    expect({ code, calls: server.calls.length }).toEqual({ code: 9, calls: 1 });
    expect(stderr).toContain('expires by itself');
  });
});

describe('3ds show', () => {
  it('svc 3ds show hides personal data and authentication values in a table, and says so', async () => {
    script({ [READ]: [200, SESSION] });
    const { stdout, stderr } = succeeded(await place.svc(['3ds', 'show', 's1', '-o', 'table'], { server }));
    for (const secret of ['CAVV', '203.0.113.9', 'Agent of Ann', 'unheard of', 'Call us', 'private'])
      expect(stdout).not.toContain(secret);
    for (const shown of ['s1', 'successful', 'high-confidence', '24', '2.1.0, 2.2.0', 'acs-1', 'kept'])
      expect(stdout).toContain(shown);
    expect(stderr).toContain('-o json');
    const chosen = await place.svc(
      [
        '3ds',
        'show',
        's1',
        '-o',
        'table',
        '--fields',
        'authentication.authentication_value,device_info.browser_ip_address',
      ],
      { server },
    );
    expect(chosen.stdout).toMatch(/\(hidden\)[\s\S]*\(hidden\)/);
  });

  it.each(['json', 'jsonl', 'yaml'])('svc 3ds show gives a program all of it, as %s', async (format) => {
    script({ [READ]: [200, SESSION] });
    const { stdout } = await place.svc(['3ds', 'show', 's1', '-o', format], { server });
    for (const value of ['CAVVsecretCAVVsecret', '203.0.113.9', 'Call us, Ann', 'unheard of', 'private'])
      expect(stdout).toContain(value);
  });

  it('svc 3ds show warns of deprecated fields', async () => {
    script({ [READ]: [200, { ...SESSION, pan_token_id: 'p', authentication: { pan_token_id: 'p' } }] });
    const table = await place.svc(['3ds', 'show', 's1', '-o', 'table'], { server });
    expect(table.stdout).toContain('p (deprecated)');
    const { stdout, stderr } = await place.svc(['3ds', 'show', 's1'], { server });
    expect(JSON.parse(stdout)).toMatchObject({ pan_token_id: 'p' });
    expect(stderr).toContain('deprecated: pan_token_id, authentication.pan_token_id');
    script({ [READ]: [200, SESSION] });
    expect((await place.svc(['3ds', 'show', 's1'], { server })).stderr).not.toContain('deprecated');
  });
});

describe('3ds authenticate', () => {
  it('svc 3ds authenticate reads the session, sends the body once, and explains what came of it', async () => {
    script({ [READ]: [200, FRESH], [SEND]: [200, RESULT] });
    const { code, stdout, stderr } = await authenticate('--set', 'purchase_info.amount=77');
    expect({ code, lines: server.lines }).toEqual({ code: 0, lines: [READ, SEND] });
    expect(server.calls[1]?.body).toEqual(changed(fullBody(), 'purchase_info.amount', '77'));
    expect(JSON.parse(stdout)).toEqual(RESULT);
    expect(stderr).toMatch(
      /successful: .*authenticated[\s\S]*liability for fraud: .*issuer[\s\S]*next: .*authentication_value/,
    );
  });

  it('svc 3ds authenticate sends unknown fields as they are with --allow unknown-field, and names them', async () => {
    const body = changed(fullBody(), 'purchase_info.new_rate', { deep: ['x', 1] });
    place.file('body.json', body);
    script({ [READ]: [200, FRESH], [SEND]: [200, RESULT] });
    ended(await authenticate('--yes'), 13);
    ended(
      await authenticate('--allow', 'unknown-field', '--set', 'purchase_info.currency=USD'),
      0,
      'allowed (unknown-field): purchase_info.new_rate is not a field',
    );
    expect(server.calls.at(-1)?.body).toEqual(changed(body, 'purchase_info.currency', '840'));
  });

  it('R95: svc 3ds authenticate refuses an exponent that contradicts the currency, and sends it with --allow exponent', async () => {
    place.file(
      'body.json',
      changed(changed(fullBody(), 'purchase_info.currency', '392'), 'purchase_info.amount', '500000'),
    );
    script({ [READ]: [200, FRESH], [SEND]: [200, RESULT] });
    const refused = await authenticate();
    expect({ code: refused.code, lines: server.lines }).toEqual({ code: 13, lines: [READ] });
    expect(refused.stderr).toContain('500000 would be 5,000.00 JPY, not 500,000 JPY');
    const sent = await authenticate('--allow', 'exponent');
    expect({ code: sent.code, line: server.lines.at(-1) }).toEqual({ code: 0, line: SEND });
    expect(sent.stderr).toContain('amount: 5,000.00 JPY');
    const set = await authenticate('--set', 'purchase_info.currency=JPY');
    expect(set.stderr).toContain('amount: 500,000 JPY');
    expect(server.calls.at(-1)?.body).toMatchObject({ purchase_info: { currency: '392', exponent: '0' } });
  });

  it('svc 3ds show has the device data of SDKs as they are sent', async () => {
    const device_info = {
      browser_color_depth: '24',
      browser_screen_height: '720.5',
      browser_screen_width: 1280.5,
      browser_tz: '-330',
    };
    for (const info of [device_info, { ...device_info, browser_tz: 'test' }, { ...device_info, browser_tz: -330 }]) {
      script({ [READ]: [200, { ...SESSION, device_info: info }] });
      const { code, stdout } = await place.svc(['3ds', 'show', 's1'], { server });
      expect({ code, shown: JSON.parse(stdout) as unknown }).toMatchObject({ code: 0, shown: { device_info: info } });
      ended(await place.svc(['3ds', 'show', 's1', '-o', 'table'], { server }), 0, {
        stdout: expect.stringContaining('720.5'),
      });
    }
  });

  it('R57: svc 3ds authenticate refuses what the type of the session forbids, before anything is sent', async () => {
    script({ [READ]: [200, { ...SESSION, type: 'merchant' }] });
    place.file('body.json', changed(fullBody(), 'decoupled_challenge_max_time', undefined));
    const { code, stdout, stderr } = await authenticate();
    expect({ code, stdout, lines: server.lines }).toEqual({ code: 13, stdout: '', lines: [READ] });
    const { violations } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as {
      violations: { path: string; severity: string }[];
    };
    const errors = violations.filter(({ severity }) => severity === 'error');
    expect(errors.map(({ path }) => path)).toEqual(['authentication_type', 'decoupled_challenge_max_time']);
  });

  it('svc 3ds authenticate checks as far as it can where the type of the session is new', async () => {
    script({ [READ]: [200, { ...FRESH, type: 'robot' }], [SEND]: [200, RESULT] });
    succeeded(await authenticate());
  });

  it('svc 3ds authenticate needs --file, and reads it before it asks the service', async () => {
    script({});
    ended(await place.svc(['3ds', 'authenticate', 's1'], { server }), 2);
    place.file('body.json', '{');
    ended(await authenticate(), 13);
    expect(server.lines).toEqual([]);
  });

  it('R20: svc 3ds authenticate is sent once, and says how to find out what happened', async () => {
    for (const reply of ['torn', [500, {}], [502, {}], [200, { no: 'status' }]] as const) {
      script({ [READ]: [200, FRESH], [SEND]: reply });
      const { code, stderr } = await authenticate();
      expect({ code, lines: server.lines }).toEqual({ code: 9, lines: [READ, SEND] });
      expect(stderr).toContain('svc 3ds show s1');
    }
  });

  it('svc 3ds authenticate says what the other party reported in a 424, and that a new session is needed', async () => {
    const inner = { message: 'Unknown cardholder account', detail: 'Card range is not enrolled' };
    const body = { title: 'Failed Dependency', detail: 'directory server', error: { error: inner } };
    for (const reply of [body, { error: { error: inner } }, { error: inner }]) {
      script({ [READ]: [200, FRESH], [SEND]: [424, reply] });
      const { stderr } = ended(
        await authenticate(),
        6,
        /Unknown cardholder account – Card range is not enrolled.*create a new session.","next":"svc 3ds create --token/s,
      );
      expect(stderr.includes('directory server')).toBe(reply === body);
    }
  });

  it('svc 3ds authenticate says after a 409 that a session can be authenticated only once', async () => {
    script({ [READ]: [200, FRESH], [SEND]: [409, { title: 'Conflict' }] });
    const { code, stderr } = await authenticate();
    expect({ code, lines: server.lines }).toEqual({ code: 6, lines: [READ, SEND] });
    expect(stderr).toMatch(/authenticated once: create a new session.","next":"svc 3ds create --token/s);
  });

  it.each([401, 403])('svc 3ds authenticate needs no permission to read sessions (%i)', async (status) => {
    const open = { ...RESULT, authentication_status: 'challenge', acs_challenge_url: 'https://acs.example/c' };
    script({
      [READ]: [status, {}],
      [SEND]: [200, open],
      [CHALLENGE]: [
        [404, {}],
        [200, RESULT],
      ],
    });
    const { code, stdout, stderr } = await authenticate('--wait');
    expect({ code, sent: server.lines.filter((line) => line === SEND) }).toEqual({ code: 0, sent: [SEND] });
    expect(JSON.parse(stdout)).toEqual(RESULT);
    expect(stderr).toContain(`may not read the session (${status})`);
  });

  it('svc 3ds authenticate sends the numbers of currencies that are given by their letters', async () => {
    script({ [READ]: [200, FRESH], [SEND]: [200, RESULT] });
    place.file('body.json', changed(fullBody(), 'merchant_info.risk_info.gift_card_currency', 'EUR'));
    succeeded(await authenticate('--set', 'purchase_info.currency=usd'));
    expect(server.calls[1]?.body).toMatchObject({
      purchase_info: { currency: '840' },
      merchant_info: { risk_info: { gift_card_currency: '978' } },
    });
  });

  it('svc 3ds authenticate still checks every rule that does not depend on the session where it may not be read', async () => {
    script({ [READ]: [403, {}], [SEND]: [200, RESULT] });
    place.file('body.json', changed(fullBody(), 'purchase_info.amount', undefined));
    const { code } = await authenticate();
    expect({ code, lines: server.lines }).toEqual({ code: 13, lines: [READ] });
  });

  it.each([
    ['successful', undefined, 0],
    ['failed', undefined, 0],
    ['successful', 'wrn', 0],
    ['attempted', 'wrn', 0],
    ['failed', 'err', 10],
    ['rejected', 'err', 10],
    ['unavailable', 'err', 0],
    ['challenge', 'err', 0],
    ['unavailable', 'wrn', 10],
    ['informational', 'wrn', 10],
    ['challenge', 'wrn', 10],
    ['brand-new', 'wrn', 10],
    ['brand-new', 'err', 10],
  ])(
    'svc 3ds authenticate ends %s with --fail-on %s in exit %i, the result written all the same',
    async (status, failOn, exit) => {
      const result = { ...RESULT, authentication_status: status };
      script({ [READ]: [200, FRESH], [SEND]: [200, result], [CHALLENGE]: [200, result] });
      const more = failOn === undefined ? [] : ['--fail-on', failOn];
      for (const run of [
        await authenticate(...more),
        await place.svc(['3ds', 'challenge-result', 's1', ...more], { server }),
      ]) {
        expect({ code: run.code, written: JSON.parse(run.stdout) as unknown }).toEqual({ code: exit, written: result });
        expect(run.stderr.includes('"code":"threshold"')).toBe(exit === 10);
      }
    },
  );

  it.each([
    ['attempted', /liability for fraud: .*issuer/],
    ['failed', /liability for fraud: It stays with you[\s\S]*Stop the transaction/],
    ['unavailable', /bear the risk/],
    ['rejected', /do not try this card again/],
    ['informational', /only informed/],
    ['brand-new', /a status that this version does not know/],
  ])('svc 3ds authenticate ends in exit 0 for %s, with the reason that the session holds', async (status, words) => {
    const reasons = { authentication_status: status, authentication_status_reason: 'card-expired' };
    script({
      [READ]: [
        [200, { ...SESSION, authentication: null }],
        [200, { ...SESSION, authentication: reasons }],
      ],
      [SEND]: [200, { ...RESULT, authentication_status: status }],
    });
    const { code, stderr } = await authenticate();
    expect({ code, lines: server.lines }).toEqual({ code: 0, lines: [READ, SEND, READ] });
    expect(stderr).toMatch(words);
    expect(stderr.includes('The card has expired.')).toBe(status !== 'brand-new');
  });

  it('svc 3ds authenticate still explains where the session cannot be read again', async () => {
    script({
      [READ]: [
        [200, FRESH],
        [403, {}],
      ],
      [SEND]: [200, { ...RESULT, authentication_status: 'failed' }],
    });
    ended(await authenticate(), 0, 'Stop the transaction');
  });

  it('svc 3ds authenticate names the page of a challenge and the command that gets the outcome', async () => {
    const open = { ...RESULT, authentication_status: 'challenge', authentication_value: null };
    const session = { ...SESSION, authentication: { acs_challenge_url: 'https://acs.example/c/1' } };
    script({ [READ]: [200, session], [SEND]: [200, open] });
    ended(
      await authenticate(),
      0,
      'the cardholder completes the challenge at https://acs.example/c/1',
      'svc 3ds challenge-result s1 --wait',
    );
    script({ [READ]: [200, { ...SESSION, authentication: null }], [SEND]: [200, open] });
    expect((await authenticate()).stderr).toContain(
      'the service gave no address for the challenge: the SDK performs it',
    );
  });

  it('svc 3ds authenticate waits to the end of a challenge with --wait, and writes only the outcome', async () => {
    const open = { ...RESULT, authentication_status: 'challenge' };
    script({
      [READ]: [200, FRESH],
      [SEND]: [200, open],
      [CHALLENGE]: [
        [200, open],
        [200, open],
        [200, RESULT],
      ],
    });
    const { code, stdout } = await authenticate('--wait');
    expect({ code, polls: server.lines.filter((line) => line === CHALLENGE).length }).toEqual({ code: 0, polls: 3 });
    expect(JSON.parse(stdout)).toEqual(RESULT);
    script({ [READ]: [200, FRESH], [SEND]: [200, RESULT] });
    await authenticate('--wait');
    expect(server.lines).toEqual([READ, SEND]);
  });

  it('svc 3ds authenticate sends nothing for a session that was authenticated before, unless --again is given', async () => {
    for (const status of ['successful', 'challenge', 'brand-new']) {
      const session = { ...SESSION, authentication: { authentication_status: status } };
      script({ [READ]: [200, session], [SEND]: [409, {}] });
      const refused = await authenticate('--yes');
      expect({ code: refused.code, lines: server.lines }).toEqual({ code: 13, lines: [READ] });
      expect(refused.stderr).toContain(`was authenticated before (${status})`);
      expect(errorIn(refused)).toMatchObject({ next: 'svc 3ds challenge-result s1 --wait' });
      const sent = await authenticate('--again');
      expect({ code: sent.code, sends: server.lines.filter((line) => line === SEND).length }).toEqual({
        code: 6,
        sends: 1,
      });
    }
  });

  it('svc 3ds authenticate remembers a session whose open challenge the service does not show, unless the service refused it', async () => {
    const [clock, line] = [new FakeClock(), ['3ds', 'authenticate', 's1', '--file', 'body.json']];
    const send = (...more: readonly string[]) => place.svc([...line, ...more], { server, clock });
    const open = { ...RESULT, authentication_status: 'challenge' };
    script({ [READ]: [200, FRESH], [SEND]: [[400, { title: 'Bad Request' }], 'torn', [200, open], [200, open]] });
    ended(await authenticate(), 6);
    ended(await send(), 9);
    const refused = await send();
    expect({ code: refused.code, sends: server.lines.filter((sent) => sent === SEND).length }).toEqual({
      code: 13,
      sends: 2,
    });
    expect((await send('--dry-run')).stderr).toContain('was authenticated before (from this machine)');
    succeeded(await send('--again'));
    await clock.advance(31 * 86_400_000);
    succeeded(await send());
  });

  it('svc 3ds authenticate warns of a session that has expired', async () => {
    script({ [READ]: [200, { ...FRESH, expiration_date: '2020-01-01T00:00:00Z' }], [SEND]: [200, RESULT] });
    const { stderr } = await authenticate();
    expect(stderr).toContain('expired at 2020-01-01');
  });
});

describe('--open', () => {
  const open = { ...RESULT, authentication_status: 'challenge' };

  it('svc 3ds --open hands the address to the browser as one word, without a shell', async () => {
    const opened = join(place.path, 'opened');
    writeFileSync(join(place.path, 'xdg-open'), `#!/bin/sh\nprintf %s "$#:$1" > '${opened}'\n`, { mode: 0o755 });
    const page = "https://acs.example/c/1;$(touch x)'&a=b";
    script({ [READ]: [200, FRESH], [SEND]: [200, { ...open, acs_challenge_url: page }] });
    succeeded(await authenticateIn({ PATH: place.path }, '--open'));
    await expect
      .poll(() => (existsSync(opened) ? readFileSync(opened, 'utf8') : ''))
      .toMatch(/^1:https:\/\/acs\.example\/c\/1;/);
  });

  it('svc 3ds --open says so where there is no browser, or no address that may be opened', async () => {
    script({ [READ]: [200, FRESH], [SEND]: [200, { ...open, acs_challenge_url: 'https://acs.example/' }] });
    expect((await authenticateIn({ PATH: '/nowhere' }, '--open')).stderr).toContain('open the address yourself');
    writeFileSync(join(place.path, 'xdg-open'), '#!/bin/sh\nexit 3\n', { mode: 0o755 });
    expect((await authenticateIn({ PATH: place.path }, '--open')).stderr).toContain('open the address yourself');
    script({ [READ]: [200, FRESH], [SEND]: [200, { ...open, acs_challenge_url: 'file:///etc/passwd' }] });
    expect((await authenticateIn({ PATH: '/nowhere' }, '--open')).stderr).toContain('not opened: ');
  });
});

describe('3ds challenge-result', () => {
  const open = { ...RESULT, authentication_status: 'challenge', authentication_value: null };

  it('svc 3ds challenge-result gives the outcome as is, and how to wait where it is open', async () => {
    script({ [CHALLENGE]: [200, { ...RESULT, challenge_attempts: '1' }] });
    const done = await place.svc(['3ds', 'challenge-result', 's1'], { server });
    expect(JSON.parse(done.stdout)).toMatchObject({ challenge_attempts: '1' });
    script({ [CHALLENGE]: [200, open] });
    ended(await place.svc(['3ds', 'challenge-result', 's1'], { server }), 0, 'svc 3ds challenge-result s1 --wait');
  });

  it('svc 3ds challenge-result --wait names the page of a challenge that only the session has', async () => {
    const session = { ...SESSION, authentication: { acs_challenge_url: 'https://acs.example/c/1' } };
    script({
      [READ]: [200, session],
      [CHALLENGE]: [
        [200, open],
        [200, RESULT],
      ],
    });
    const argv = ['3ds', 'challenge-result', 's1', '--wait'];
    const run = await place.svc(argv, { server, clock: new FakeClock() });
    ended(run, 0, 'the cardholder completes the challenge at https://acs.example/c/1');
  });

  it('svc 3ds challenge-result waits with growing pauses, through outages', async () => {
    const clock = new FakeClock();
    script({
      [CHALLENGE]: [
        [200, open],
        [503, {}],
        [503, {}],
        [503, {}],
        [503, {}],
        [503, {}],
        [200, open],
        [200, RESULT],
      ],
    });
    const { code, stdout, stderr } = await place.svc(['3ds', 'challenge-result', 's1', '--wait'], { server, clock });
    expect({ code, status: (JSON.parse(stdout) as typeof RESULT).authentication_status }).toEqual({
      code: 0,
      status: 'successful',
    });
    expect(stderr).toContain('no response');
    expect(Math.max(...clock.slept)).toBeGreaterThan(5000);
  });

  it('svc 3ds challenge-result gives up after an hour, or eight days where the challenge is decoupled, with the command that resumes', async () => {
    for (const [status, hours] of [
      ['challenge', 1],
      ['decoupled_challenge', 192],
    ] as const) {
      const clock = new FakeClock();
      const started = clock.now();
      script({ [CHALLENGE]: [200, { ...RESULT, authentication_status: status }] });
      const { code, stderr, stdout } = await place.svc(['3ds', 'challenge-result', 's1', '--wait'], { server, clock });
      expect({ code, stdout, hours: Math.round((clock.now() - started) / 3_600_000) }).toEqual({
        code: 11,
        stdout: '',
        hours,
      });
      expect(stderr).toContain('"next":"svc 3ds challenge-result s1 --wait"');
    }
  });

  it('svc 3ds challenge-result ends in exit 11 when --timeout is over', async () => {
    script({ [CHALLENGE]: [200, open] });
    ended(
      await place.svc(['3ds', 'challenge-result', 's1', '--wait', '--timeout', '1s'], { server }),
      11,
      'svc 3ds challenge-result s1 --wait',
    );
  });

  it('R53: svc 3ds challenge-result ends in exit 130 when interrupted, with the command that resumes', async () => {
    const { SvcError } = await import('../../../src/base/errors.ts');
    const interrupt = new AbortController();
    script({ [CHALLENGE]: [200, open] });
    setTimeout(() => interrupt.abort(new SvcError('interrupted', 'interrupted')), 300);
    ended(
      await place.svc(['3ds', 'challenge-result', 's1', '--wait'], { server, signal: interrupt.signal }),
      130,
      'svc 3ds challenge-result s1 --wait',
    );
  });

  it('svc 3ds challenge-result ends at once where the session does not exist, or without --wait', async () => {
    script({});
    ended(await place.svc(['3ds', 'challenge-result', 's1', '--wait'], { server }), 5);
    script({ [READ]: [200, SESSION] });
    const run = await place.svc(['3ds', 'challenge-result', 's1'], { server });
    expect({ code: run.code, lines: server.lines }).toEqual({ code: 5, lines: [CHALLENGE] });
  });

  it.each<[string, Reply]>([
    ['exists', [200, { ...SESSION, authentication: open }]],
    ['was not authenticated yet', [200, { ...SESSION, authentication: null }]],
    ['may not be read (401)', [401, {}]],
    ['may not be read (403)', [403, {}]],
  ])('svc 3ds challenge-result waits through a 404 of the result while the session %s', async (_, read) => {
    script({
      [READ]: read,
      [CHALLENGE]: [
        [404, {}],
        [404, {}],
        [200, open],
        [404, {}],
        [200, RESULT],
      ],
    });
    const clock = new FakeClock();
    const run = succeeded(await place.svc(['3ds', 'challenge-result', 's1', '--wait'], { server, clock }));
    expect(JSON.parse(run.stdout)).toEqual(RESULT);
  });

  it.each([[null], [{}]])(
    'svc 3ds challenge-result says of a session with the authentication %j that none is shown, and names itself as the next command',
    async (authentication) => {
      script({ [READ]: [200, { ...SESSION, authentication }] });
      const argv = ['3ds', 'challenge-result', 's1', '--wait'];
      const run = ended(await place.svc(argv, { server, clock: new FakeClock() }), 11, { stdout: '' });
      expect(run.stderr.split('\n')[0]).toMatch(/^the service shows no authentication of this session: it is open, or/);
      // A script that followed a command to authenticate would do so twice.
      expect(run.stderr).not.toContain('3ds authenticate');
      expect(errorIn(run)).toMatchObject({
        message: expect.stringContaining('the service shows no authentication of 3DS session s1'),
        next: 'svc 3ds challenge-result s1 --wait',
      });
    },
  );

  it('svc 3ds challenge-result takes the outcome from the session where only that has it', async () => {
    script({ [READ]: [200, SESSION] });
    const run = await place.svc(['3ds', 'challenge-result', 's1', '--wait'], { server });
    expect({ code: run.code, lines: server.lines }).toEqual({ code: 0, lines: [CHALLENGE, READ] });
    expect(JSON.parse(run.stdout)).toMatchObject({ authentication_status: 'successful', eci: '05' });
  });

  it.each([
    ['challenge', 1],
    ['decoupled_challenge', 192],
  ])(
    'svc 3ds challenge-result waits through 404s for as long as the status %s allows, which the response to authenticate says',
    async (status, hours) => {
      const clock = new FakeClock();
      const started = clock.now();
      script({
        [READ]: [403, {}],
        [SEND]: [200, { ...RESULT, authentication_status: status }],
        [CHALLENGE]: [404, {}],
      });
      const run = await place.svc(['3ds', 'authenticate', 's1', '--file', 'body.json', '--wait', '--again'], {
        server,
        clock,
      });
      expect({ code: run.code, hours: Math.round((clock.now() - started) / 3_600_000) }).toEqual({ code: 11, hours });
      expect(run.stderr).toContain('"next":"svc 3ds challenge-result s1 --wait"');
    },
  );
});
