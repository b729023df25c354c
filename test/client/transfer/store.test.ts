import { describe, expect, it } from 'vitest';
import {
  type AddressSource,
  describeStoreError,
  readStoreError,
  refusedByStore,
  requireStoreAddress,
} from '../../../src/client/transfer/store.ts';
import { failure } from './support.ts';

const SECRET = 'AbCdEf0123456789+/AbCdEf0123456789=';
const none = (): undefined => undefined;

describe("a store's error body", () => {
  const BODIES: [string, string, string][] = [
    [
      'XML',
      '<Error><Code>AccessDenied</Code><Message>Request has expired</Message><RequestId>R1</RequestId></Error>',
      '403 AccessDenied: Request has expired',
    ],
    ['XML with entities', '<Error><Code>A</Code><Message>a &lt;b&gt; &amp; c</Message></Error>', '403 A: a <b> & c'],
    ['JSON', '{"code":"Expired","message":"too late"}', '403 Expired: too late'],
    ['nested JSON', '{"error":{"code":403,"message":"too late"}}', '403 403: too late'],
    ['HTML', '<!doctype html><html><head><title>Blocked by policy</title></head>', '403: Blocked by policy'],
    ['cut XML', '<Error><Code>AccessDenied</Code><Mess', '403 AccessDenied'],
    ['text', 'no', '403'],
    ['nothing', '', '403'],
    ['a list', '[1]', '403'],
  ];

  it.each(BODIES)("R07: a store's error body shows code and message of %s", (_name, body, words) => {
    expect(describeStoreError(403, readStoreError(body, none))).toBe(words);
  });

  it("R07: a store's error body shows the request id of body or header, and no odd one", () => {
    expect(readStoreError('<RequestId>tx-1</RequestId>', none).requestId).toBe('tx-1');
    expect(readStoreError('', (name) => (name === 'x-ms-request-id' ? 'id-2' : undefined)).requestId).toBe('id-2');
    expect(readStoreError('<RequestId>a b\n</RequestId>', none).requestId).toBeUndefined();
  });

  const ECHOES = [
    `Signature did not match. String to sign was GET\n\n${SECRET}`,
    `bad address https://store.example/key?X-Amz-Signature=${SECRET}`,
    `sig=${SECRET} is wrong`,
    `the path /key?sv=1&sig=abc is wrong`,
    'card 4111 1111 1111 1111 is not known',
  ];

  it.each(ECHOES)("R06 and R07: a store's error body drops what a message echoes: %j", (message) => {
    const body = `<Error><Code>C</Code><Message>${message}</Message><SignatureProvided>${SECRET}</SignatureProvided></Error>`;
    const shown = JSON.stringify(readStoreError(body, none));
    expect(shown).not.toMatch(/AbCdEf|sig=abc|4111/);
  });
});

it.each([
  [204, 'bad_response'],
  [399, 'bad_response'],
  [400, 'rejected'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [408, 'server'],
  [410, 'not_found'],
  [416, 'rejected'],
  [429, 'rate_limited'],
  [499, 'rejected'],
  [500, 'server'],
  [503, 'server'],
])('R21: an error response of a store with status %i is the error %s', (status, code) => {
  const url = new URL('https://store.example/a');
  expect(refusedByStore({ url, doing: 'download', status, error: readStoreError('', none) })).toMatchObject({ code });
});

describe('a store address', () => {
  it.each(['https://store.example/a?sig=x', 'http://127.0.0.1:1/a', 'http://localhost/a', 'http://[::1]:2/a'])(
    'R04: a store address of a service on this machine may be %s',
    (text) => {
      expect(requireStoreAddress(text, 'j1', service('http://127.0.0.1:9/')).href).toBe(text);
    },
  );

  it.each([
    'http://store.example/a?sig=SECRET',
    'ftp://store.example/SECRET',
    'SECRET',
    '',
    '//x/SECRET',
    'file:///SECRET',
  ])('R04 and R06: a store address may not be %s, and is not shown', async (text) => {
    const source = service('http://127.0.0.1:9/');
    const error = await failure(Promise.resolve().then(() => requireStoreAddress(text, 'j1', source)));
    expect(error.code).toBe('bad_response');
    expect(`${error.message} ${error.hint}`).not.toContain('SECRET');
  });

  it.each(['https://127.0.0.1:1/a?SECRET', 'http://localhost/SECRET', 'https://[::1]/SECRET'])(
    'R04: a store address of a service elsewhere may not be on this machine: %s',
    async (text) => {
      const source = service('https://api.example/');
      const error = await failure(Promise.resolve().then(() => requireStoreAddress(text, 'j1', source)));
      expect(error.code).toBe('bad_response');
      expect(error.message).toContain('is on this machine, and the service is not');
      expect(`${error.message} ${error.hint}`).not.toContain('SECRET');
    },
  );

  it('R07: a store address makes secrets of all that its query holds, as it is and decoded; the job in it stays readable', () => {
    const source = service('https://api.example/');
    requireStoreAddress('https://store.example/a?sig=a%2Fb%3D&job=j1&t=%zz#x=y', 'j1', source);
    expect(source.secrets).toEqual(['a%2Fb%3D', 'a/b=', '%zz', '%zz']);
  });
});

function service(baseUrl: string): AddressSource & { secrets: string[] } {
  const secrets: string[] = [];
  return { baseUrl: new URL(baseUrl), addSecret: (value) => void secrets.push(value), secrets };
}
