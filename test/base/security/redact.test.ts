import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../../src/base/security/redact.ts';

const SECRET = 'Qw7+/zü"x\\9canary';

function redactorOf(...secrets: string[]) {
  const redactor = createRedactor();
  for (const secret of secrets) redactor.addSecret(secret);
  return redactor;
}

describe('known secrets', () => {
  const redactor = redactorOf(SECRET);

  it.each([
    ['as it is', SECRET],
    ['in capital letters', SECRET.toUpperCase()],
    ['in small letters', SECRET.toLowerCase()],
    ['URL-encoded', encodeURIComponent(SECRET)],
    ['URL-encoded in small letters', encodeURIComponent(SECRET).replace(/%../g, (octet) => octet.toLowerCase())],
    ['in hexadecimal digits', Buffer.from(SECRET).toString('hex')],
    ['in large hexadecimal digits', Buffer.from(SECRET).toString('hex').toUpperCase()],
    ['without its last characters', SECRET.slice(0, -4)],
    ['without its last character', SECRET.slice(0, -1)],
    ['in JSON', JSON.stringify({ key: SECRET })],
    ['in JSON inside JSON', JSON.stringify(JSON.stringify({ key: SECRET }))],
  ])('R06: redaction hides a secret %s', (_, form) => {
    const shown = redactor.redact(`before ${form} after`);
    expect(shown).toContain('[hidden]');
    expect(shown).toMatch(/^before .* after$/);
    for (const part of ['canary', 'qw7', '5177372b']) expect(shown.toLowerCase()).not.toContain(part);
  });

  it('R06: redaction hides a secret within base64, wherever it stands', () => {
    for (const before of ['', 'a', 'ab', 'user:', 'user1:', 'user12:'])
      for (const after of ['', 'z', 'zz', ':end'])
        for (const encoding of ['base64', 'base64url'] as const) {
          const shown = redactor.redact(`x ${Buffer.from(before + SECRET + after).toString(encoding)} y`);
          const rest = shown.replace(/^x | y$/g, '').replace('[hidden]', '');
          expect(shown).toContain('[hidden]');
          expect(rest.length).toBeLessThan(before.length * 2 + after.length * 2 + 8);
        }
  });

  it('redaction hides the longer of two secrets that share a part whole', () => {
    expect(redactorOf('abcdefgh', 'abcdefghijkl').redact('=abcdefghijkl= =abcdefgh=')).toBe('=[hidden]= =[hidden]=');
  });

  it('redaction ignores values that are too short to hide', () => {
    expect(redactorOf('', 'card', '1234567').redact('card 1234567')).toBe('card 1234567');
  });

  it('redaction takes a lone surrogate without failing', () => {
    expect(redactorOf('abcdefg\ud800').redact('x abcdefg\ud800 y')).toBe('x [hidden] y');
  });
});

describe('signed addresses', () => {
  const { redact } = createRedactor();
  const host = 'https://store.example/bucket/part';

  it.each([
    'X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AK%2F2026&X-Amz-Signature=c0ffee',
    'sv=2024-01-01&se=2026-11-20&sp=w&sig=c0ffee%3D',
    'AWSAccessKeyId=AKIA&Expires=1763&Signature=c0ffee',
    'GoogleAccessId=x&X-Goog-Signature=c0ffee',
    'a=b&upload_token=c0ffee',
    'a=b&Policy=x&Key-Pair-Id=c0ffee',
    'a=b&x%2Damz%2Dsignature=c0ffee',
  ])('R06: redaction hides the query %s', (query) => {
    expect(redact(`PUT ${host}?${query} failed`)).toBe(`PUT ${host}?… failed`);
    expect(redact(`PUT /bucket/part?${query}`)).toBe('PUT /bucket/part?…');
    expect(redact(JSON.stringify({ url: `${host}?${query}`, n: 1 }))).toBe(JSON.stringify({ url: `${host}?…`, n: 1 }));
    expect(redact(`{"u":"${`${host}?${query}`.replaceAll('&', '\\u0026').replaceAll('/', '\\/')}"}`)).not.toContain(
      'c0ffee',
    );
    expect(redact(`next=${encodeURIComponent(`${host}?${query}`)}`)).not.toContain('c0ffee');
    expect(redact(`${host}?${query}`.replaceAll('&', '&amp;'))).not.toContain('c0ffee');
    expect(redact(JSON.stringify(JSON.stringify({ url: `${host}?${query}` })))).toBe(
      JSON.stringify(JSON.stringify({ url: `${host}?…` })),
    );
  });

  it('R06: redaction hides signature parameters that stand apart from their address', () => {
    expect(redact('X-Amz-Date=1&X-Amz-Signature=c0ffee&x=1')).toBe('X-Amz-Date=1&X-Amz-Signature=[hidden]&x=1');
    expect(redact('sig=c0ffee')).toBe('sig=[hidden]');
  });

  it.each([
    'GET https://api.example/logs?start=abc&size=20&entity_type=card',
    'what? a token = thing',
    '{"a":1,"b":"x?y"}',
    'https://api.example/path',
  ])('redaction leaves what is no signed address: %s', (text) => {
    expect(redact(text)).toBe(text);
  });

  it('redaction leaves addresses readable when asked, but neither keys, passwords nor card numbers', () => {
    const open = createRedactor({ showUrls: true });
    open.addSecret('key_canary_1');
    expect(open.redact(`${host}?sig=c0ffee key_canary_1 http://u:p@h/ 4111111111111111`)).toBe(
      `${host}?sig=c0ffee [hidden] http://[hidden]@h/ 411111••••••1111`,
    );
  });
});

describe('escapes in JSON', () => {
  const redactor = redactorOf('mgmt/CANARY+AAAA==', SECRET);
  const address = 'see https://b.example/x?X-Amz-Date=1&X-Amz-Signature=c0ffee';

  it.each([
    ['a key as of PHP', '{"k":"mgmt\\/CANARY+AAAA=="}', '{"k":"[hidden]"}'],
    ['a key as of .NET', '{"k":"mgmt/CANARY\\u002BAAAA=="}', '{"k":"[hidden]"}'],
    ['a key as the name of a member', '{"mgmt\\/CANARY+AAAA==":1}', '{"[hidden]":1}'],
    ['a header', '{"svc-api-key":"c0\\/ff\\u002Bee","a":1}', '{"svc-api-key":"[hidden]","a":1}'],
    [
      'a signed address as of Gson',
      `{"a":"\\u0041","m":"${address.replaceAll('=', '\\u003d').replaceAll('&', '\\u0026')}"}`,
      '{"a":"\\u0041","m":"see https://b.example/x?…"}',
    ],
    ['a card number', '{"n":"4111\\u003111111111111"}', '{"n":"411111••••••1111"}'],
    ['beside a bidirectional mark', '"\\u202emgmt\\/CANARY+AAAA=="', '"\\u202e[hidden]"'],
  ])('R06: redaction hides %s with escapes, and changes no other string', (_, text, shown) => {
    expect(redactor.redact(text)).toBe(shown);
    const nested = redactor.redact(JSON.stringify({ body: text }));
    for (const secret of ['CANARY', 'c0ffee', 'ee"']) expect(nested).not.toContain(secret);
    expect(() => JSON.parse((JSON.parse(nested) as { body: string }).body) as unknown).not.toThrow();
  });
});

describe('passwords and headers', () => {
  const { redact } = createRedactor();

  it.each([
    ['http://user:pass@proxy:8080/x', 'http://[hidden]@proxy:8080/x'],
    ['http://token@proxy/', 'http://[hidden]@proxy/'],
    ['http://user:pa/s?s#@proxy:1', 'http://[hidden]@proxy:1'],
    ['"http:\\/\\/user:pass@proxy"', '"http:\\/\\/[hidden]@proxy"'],
    ['http://host:8080/a@b http://host/@scope', 'http://host:8080/a@b http://host/@scope'],
    ['mail a@b.example', 'mail a@b.example'],
  ])('R24: redaction hides the user and password of %s', (text, shown) => {
    expect(redact(text)).toBe(shown);
  });

  it.each([
    ['SVC-API-KEY: c0ffee', 'SVC-API-KEY: [hidden]'],
    ['> svc-api-key:c0ffee\r\n> accept: x', '> svc-api-key:[hidden]\r\n> accept: x'],
    ['{"SVC-API-KEY":"c0ffee","a":1}', '{"SVC-API-KEY":"[hidden]","a":1}'],
    ["{ 'svc-api-key': 'c0ffee', a: 1 }", "{ 'svc-api-key': '[hidden]', a: 1 }"],
    ["[ 'SVC-API-KEY', 'c0ffee' ]", "[ 'SVC-API-KEY', '[hidden]' ]"],
    ['["SVC-API-KEY","abc"],"x":1', '["SVC-API-KEY","[hidden]"],"x":1'],
    ['["SVC-API-KEY", "k9": 1', '["SVC-API-KEY", "[hidden]": 1'],
    ['{"name":"SVC-API-KEY","means":"a header"}', '{"name":"SVC-API-KEY","means":"a header"}'],
    ['"name": "SVC-API-KEY",\n  "request_id" : "r"', '"name": "SVC-API-KEY",\n  "request_id" : "r"'],
    ["curl -H 'SVC-API-KEY: c0ffee' https://h", "curl -H 'SVC-API-KEY: [hidden]' https://h"],
    ['Authorization: Bearer c0ffee c0ffee', 'Authorization: [hidden]'],
    ['Proxy-Authorization: Basic c0ffee=', 'Proxy-Authorization: [hidden]'],
    ['Authorization: Digest username="u", response="c0ffee"', 'Authorization: [hidden]'],
    ['{\\"authorization\\":\\"c0ffee\\"}', '{\\"authorization\\":\\"[hidden]\\"}'],
    ['{"operation":"authorization","message":"ok"}', '{"operation":"authorization","message":"ok"}'],
    ['the headers SVC-API-KEY, Authorization and others', 'the headers SVC-API-KEY, Authorization and others'],
  ])('R06: redaction hides header values: %s', (text, shown) => {
    expect(redact(text)).toBe(shown);
  });
});
