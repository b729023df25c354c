import { expect, it } from 'vitest';
import { TransportFailure } from '../../../src/client/http/transport-failure.ts';
import { refusedByStore, storeUnreachable } from '../../../src/client/transfer/store-errors.ts';
import { readStoreError } from '../../../src/client/transfer/store-response.ts';

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
  expect(
    refusedByStore({ url, transfer: 'download', status, error: readStoreError('', () => undefined) }),
  ).toMatchObject({ code });
});

it('a proxy that refuses a tunnel to a store is not worth another run, and the hint is about the proxy', () => {
  const failure = new TransportFailure(
    'proxy_refused',
    'connect',
    'the proxy from HTTPS_PROXY refused the tunnel (403)',
  );
  expect(storeUnreachable(new URL('https://store.example/a'), 'download', failure)).toMatchObject({
    code: 'network',
    retryable: false,
    hint: 'Check the proxy variable, its user and password, or add the host to NO_PROXY.',
  });
});
