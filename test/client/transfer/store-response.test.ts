import { afterEach, describe, expect, it, vi } from 'vitest';
import { exchange } from '../../../src/client/http/exchange.ts';
import { TransportFailure } from '../../../src/client/http/transport-failure.ts';
import { describeStoreError, readStoreError, readStoreResponse } from '../../../src/client/transfer/store-response.ts';
import { head } from '../../support/fault-steps.ts';
import { signedAddress } from '../../support/fault-store.ts';
import { SHORT, store, transport } from './support.ts';

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

describe("a store's response whose body stalls", () => {
  afterEach(() => void vi.useRealTimers());

  it.each([
    [403, '<Error><Code>AccessDenied</Code>', 'AccessDenied'],
    [413, 'too large', undefined],
  ])("R37 and R94: a store's response whose body stalls is still the error %i", async (status, body, code) => {
    const response = await readStalled(status, body);
    expect(response).toMatchObject({ status, received: status, origin: 'store', text: body, error: { code } });
  });

  it("R94: a store's response whose body stalls is no success", async () => {
    await expect(readStalled(200, '')).rejects.toBeInstanceOf(TransportFailure);
  });
});

/** Reads a response of which the store sends only the beginning. Its time passes at once. */
async function readStalled(status: number, body: string) {
  const target = await store((call) => call.raw(head(status, { 'content-length': '500' }) + body));
  const request = { method: 'GET', url: signedAddress(target), headers: {}, limits: SHORT };
  const response = await exchange(transport(), request);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const read = readStoreResponse(response);
  vi.advanceTimersByTime(5_000);
  return read;
}
