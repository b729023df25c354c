import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { raw, START } from '../harness.ts';
import { PAYMENT, PURCHASE, postForm, threeDsSandbox, tokenFor } from './three-ds-harness.ts';

const RIGHT = { answer: 'code', code: '123456' };
const WRONG = { answer: 'code', code: '000000' };
const CANCEL = { answer: 'cancel' };

const MINUTE = 60_000;

/** Starts a session with an open challenge, and returns what a cardholder and a client can do with it. */
async function challenge(outOfBand = false, body: unknown = PAYMENT) {
  const on = await threeDsSandbox();
  const scenario = outOfBand
    ? 'Successful Out-of-Band Challenge Authentication'
    : 'Successful Challenge Authentication';
  const { id, page } = await on.challenged(scenario, body);
  const look = async () => {
    const answer = await fetch(page);
    return { status: answer.status, text: await answer.text() };
  };
  const send = async (fields: Record<string, string>) => (await postForm(page, fields)).status;
  const outcome = async () => {
    const { authentication } = await on.read(id);
    const { authentication_status, authentication_status_reason, challenge_attempts } = authentication;
    return [authentication_status, authentication_status_reason, challenge_attempts];
  };
  return { ...on, id, page, look, send, outcome };
}

function dataOf(id: string): string {
  return Buffer.from(JSON.stringify({ threeDSServerTransID: id })).toString('base64url');
}

describe('a challenge', () => {
  it('a challenge is failed by three wrong codes, and tells how many there were', async () => {
    const on = await challenge();
    expect((await on.look()).text).not.toContain('not right');
    expect(await on.send(WRONG)).toBe(303);
    expect((await on.look()).text).toContain('not right: attempt 1.');
    expect(await on.outcome()).toEqual(['challenge', undefined, '1']);
    expect(await on.send(WRONG)).toBe(303);
    expect((await on.look()).text).toContain('not right: attempt 2.');
    expect(await on.send(WRONG)).toBe(303);
    expect((await on.look()).text).toContain('max-challenges-exceeded');
    expect(await on.outcome()).toEqual(['failed', 'max-challenges-exceeded', '3']);
    expect(await on.send(RIGHT)).toBe(409);
    expect(await on.outcome()).toEqual(['failed', 'max-challenges-exceeded', '3']);
  });

  it('a challenge is passed by the right code after a wrong one, spaces and all', async () => {
    const on = await challenge();
    await on.send(WRONG);
    expect(await on.send({ answer: 'code', code: ' 123 456 ' })).toBe(303);
    expect(await on.outcome()).toEqual(['successful', undefined, '2']);
    expect((await on.look()).text).toContain('<b>successful</b>');
  });

  it('a challenge counts no form without a code', async () => {
    const on = await challenge();
    for (const fields of [{}, { answer: 'code' }, { answer: 'code', code: ' ' }, { answer: 'approve' }]) {
      const answer = await postForm(on.page, fields);
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain('Enter the code.');
    }
    expect(await on.outcome()).toEqual(['challenge', undefined, '0']);
  });

  it('a challenge can be cancelled, and the reason is told', async () => {
    const on = await challenge();
    expect(await on.send(CANCEL)).toBe(303);
    expect(await on.outcome()).toEqual(['failed', 'authentication-attempted-but-not-performed', '0']);
    expect((await on.read(on.id)).authentication).toMatchObject({
      challenge_cancel_reason: 'cardholder-canceled',
      challenge_cancel_reason_code: '01',
    });
    expect((await on.look()).text).toContain('cardholder-canceled');
  });

  it('a challenge is answered in the bank’s app where that is its kind', async () => {
    const approved = await challenge(true);
    expect((await approved.look()).text).not.toContain('<input');
    for (const fields of [RIGHT, {}]) expect(await approved.send(fields)).toBe(400);
    expect(await approved.send({ answer: 'approve' })).toBe(303);
    expect(await approved.outcome()).toEqual(['successful', undefined, '1']);
    const declined = await challenge(true);
    expect(await declined.send({ answer: 'decline' })).toBe(303);
    expect(await declined.outcome()).toEqual(['failed', 'card-authentication-failed', '1']);
    const cancelled = await challenge(true);
    expect(await cancelled.send(CANCEL)).toBe(303);
    expect(await cancelled.outcome()).toEqual(['failed', 'authentication-attempted-but-not-performed', '0']);
  });

  it('a challenge that was answered twice keeps the first answer and says so', async () => {
    const on = await challenge();
    expect(await on.send(RIGHT)).toBe(303);
    for (const fields of [RIGHT, WRONG, CANCEL, {}]) {
      const again = await postForm(on.page, fields);
      expect(again.status).toBe(409);
      expect(await again.text()).toMatch(/changed nothing[^]*<b>successful<\/b>/);
    }
    expect(await on.outcome()).toEqual(['successful', undefined, '1']);
  });

  it('a challenge takes one of many answers that come at once', async () => {
    const on = await challenge();
    const statuses = await Promise.all(Array.from({ length: 10 }, () => on.send(RIGHT)));
    expect(statuses.filter((status) => status === 303)).toHaveLength(1);
    expect(await on.outcome()).toEqual(['successful', undefined, '1']);
  });

  it('a challenge is over after ten minutes', async () => {
    const on = await challenge();
    await on.send(WRONG);
    on.clock.ms = START + 10 * MINUTE - 1;
    expect((await on.outcome())[0]).toBe('challenge');
    on.clock.ms = START + 10 * MINUTE;
    expect(await on.outcome()).toEqual(['failed', 'timeout-at-acs', '1']);
    expect((await on.read(on.id)).authentication).toMatchObject({
      challenge_cancel_reason: 'acs-timeout',
      challenge_cancel_reason_code: '04',
    });
    expect((await on.look()).text).toContain('acs-timeout');
    const late = await postForm(on.page, RIGHT);
    expect([late.status, await late.text()]).toEqual([409, expect.stringMatching(/changed nothing[^]*acs-timeout/)]);
    expect(await on.outcome()).toEqual(['failed', 'timeout-at-acs', '1']);
  });

  it('a sandbox that hides open challenges shows no authentication and no challenge result until the challenge is done', async () => {
    const on = await threeDsSandbox({ hideOpenChallenges: true });
    const { id } = await on.start('Successful Challenge Authentication');
    expect(await on.authenticated(id)).toMatchObject({ authentication_status: 'challenge' });
    expect(await on.read(id)).not.toHaveProperty('authentication');
    expect((await on.get(`/3ds/sessions/${id}/challenge-result`)).status).toBe(404);
    on.clock.ms = START + 10 * MINUTE;
    expect(await on.result(id)).toMatchObject({ authentication_status: 'failed' });
    expect((await on.read(id)).authentication).toMatchObject({ authentication_status: 'failed' });
  });

  it('a challenge is gone with its session', async () => {
    const on = await challenge();
    on.clock.ms = START + 60 * MINUTE;
    expect(await on.look()).toMatchObject({ status: 410, text: expect.stringContaining('has expired') as string });
    expect(await on.send(RIGHT)).toBe(410);
  });
});

describe('the pages', () => {
  it('the pages are not to be had without what their address carries', async () => {
    const on = await challenge();
    const other = await on.challenged('Successful Challenge Authentication');
    const token = on.page.split('/').at(-1) ?? '';
    expect(token.length).toBeGreaterThan(40);
    const wrong = [
      on.page.slice(0, -token.length - 1),
      `${on.page}/more`,
      on.page.replace(token, ''),
      on.page.replace(token, `${token}x`),
      on.page.replace(token, (token.startsWith('A') ? 'B' : 'A') + token.slice(1)),
      on.page.replace(on.id, other.id),
      on.page.replace(on.id, 'no-such-session'),
      on.page.replace('/challenge/', '/method/'),
    ];
    for (const address of wrong) {
      expect([address, (await fetch(address)).status]).toEqual([address, 404]);
      expect([address, (await postForm(address, RIGHT)).status]).toEqual([address, 404]);
    }
    expect((await on.outcome())[0]).toBe('challenge');
  });

  it('the pages run no script, load nothing, are not kept, and send no address on', async () => {
    const on = await challenge();
    const { headers } = await raw(on.page, { method: 'GET' });
    expect(headers['content-security-policy']).toBe("default-src 'none'; form-action 'self'; base-uri 'none'");
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    const { text } = await on.look();
    expect(text).not.toMatch(/<script|style|https?:\/\//);
    const sent = await postForm(on.page, WRONG);
    expect(sent.headers.get('location')).toBe(on.page.slice(on.url.length));
  });

  it('the pages answer HEAD with the head, and other methods with 405', async () => {
    const on = await challenge();
    expect(await raw(on.page, { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
    const put = await raw(on.page, { method: 'PUT', headers: { 'content-length': 0 } });
    expect([put.status, put.headers['allow']]).toEqual([405, 'GET, POST']);
  });

  it('the pages show the merchant and the amount, escaped', async () => {
    const name = `<img src=x onerror=alert(1)> & "Söhne" '\u202e`;
    const on = await challenge(false, {
      ...PAYMENT,
      merchant_info: { ...PAYMENT.merchant_info, name },
      purchase_info: { ...PURCHASE, amount: '5', currency: '392', exponent: '0' },
    });
    const { text } = await on.look();
    expect(text).toContain('&lt;img src=x onerror=alert(1)&gt; &amp; &quot;Söhne&quot;');
    expect(text).not.toContain('<img');
    expect(text).toContain('<dd>5 JPY</dd>');
    expect(text).toContain('ending in 0000');
  });

  it.each([
    ['1000', '840', '2', '10.00 USD'],
    ['5', '978', '2', '0.05 EUR'],
    ['000', '978', '2', '0.00 EUR'],
    ['123456', '048', '3', '123.456 BHD'],
    ['500000', '392', '0', '500,000 JPY'],
    ['123456', '000', '3', '123.456 (currency 000)'],
  ])('the pages write %s of currency %s with exponent %s as %s', async (amount, currency, exponent, expected) => {
    const body = { ...PAYMENT, purchase_info: { ...PURCHASE, amount, currency, exponent } };
    expect((await (await challenge(false, body)).look()).text).toContain(`<dd>${expected}</dd>`);
  });

  it('R95: the sandbox takes an exponent that contradicts the currency, shows the amount so, and notes it in its journal', async () => {
    const on = await challenge(false, {
      ...PAYMENT,
      purchase_info: { ...PURCHASE, amount: '500000', currency: '392' },
    });
    expect((await on.look()).text).toContain('<dd>5,000.00 JPY</dd>');
    expect(readFileSync(`${on.directory}/journal.jsonl`, 'utf8')).toContain('"otherExponent":true');
  });

  it('the pages refuse a form that is too large', async () => {
    const on = await challenge();
    const answer = await postForm(on.page, { answer: 'code', code: '1'.repeat(1_100_000) });
    expect(answer.status).toBe(413);
    expect(await on.outcome()).toEqual(['challenge', undefined, '0']);
  });

  it('the pages leave no token in the ledger', async () => {
    const on = await challenge();
    await on.send(RIGHT);
    const token = on.page.split('/').at(-1) ?? '';
    expect(on.ledger().some(({ path }) => path.startsWith('/acs/challenge/'))).toBe(true);
    expect(readFileSync(`${on.directory}/ledger.jsonl`, 'utf8')).not.toContain(token);
    expect(readFileSync(`${on.directory}/journal.jsonl`, 'utf8')).not.toContain(token);
  });
});

describe('the method', () => {
  const token_id = tokenFor('Successful Frictionless Authentication');

  it('the 3-D Secure method collects what the browser tells, and is completed by the notification', async () => {
    const on = await threeDsSandbox();
    const { id, method_url } = await on.created({ token_id, type: 'customer' });
    const page = await (await fetch(method_url ?? '')).text();
    expect(page).toContain(`value="${dataOf(id)}"`);
    expect((await on.read(id)).method?.method_completion_indicator).toBe('N');
    const answer = await fetch(method_url ?? '', {
      method: 'POST',
      headers: { 'user-agent': 'Test Browser', accept: 'text/html' },
      body: new URLSearchParams({ threeDSMethodData: dataOf(id) }),
    });
    expect([answer.status, answer.redirected]).toEqual([200, true]);
    expect(answer.url).toBe(`${on.url}/3ds/sessions/${id}/method-notification`);
    const session = await on.read(id);
    expect(session.method?.method_completion_indicator).toBe('Y');
    expect(session.device_info).toEqual({
      browser_accept_header: 'text/html',
      browser_ip_address: '127.0.0.1',
      browser_user_agent: 'Test Browser',
    });
  });

  it('the 3-D Secure method is not completed by a form that does not name the session', async () => {
    const on = await threeDsSandbox();
    const { id, method_notification_url = '' } = await on.created({ token_id, type: 'customer' });
    const forms = [{}, { threeDSMethodData: '' }, { threeDSMethodData: 'bnVsbA' }, { threeDSMethodData: dataOf('x') }];
    for (const form of forms) expect((await postForm(method_notification_url ?? '', form)).status).toBe(400);
    expect((await on.read(id)).method?.method_completion_indicator).toBe('N');
    const unknown = `${on.url}/3ds/sessions/x/method-notification`;
    expect((await postForm(unknown, { threeDSMethodData: dataOf('x') })).status).toBe(404);
    expect((await postForm(method_notification_url ?? '', { threeDSMethodData: dataOf(id) })).status).toBe(200);
    expect((await on.read(id)).method?.method_completion_indicator).toBe('Y');
  });

  it('the 3-D Secure method expires with its session', async () => {
    const on = await threeDsSandbox();
    const { id, method_url, method_notification_url } = await on.created({ token_id, type: 'customer' });
    on.clock.ms += 60 * MINUTE;
    expect((await fetch(method_url ?? '')).status).toBe(410);
    const form = { threeDSMethodData: dataOf(id) };
    expect((await postForm(method_notification_url ?? '', form)).status).toBe(410);
  });
});
