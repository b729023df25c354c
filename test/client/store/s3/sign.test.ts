import { describe, expect, it } from 'vitest';
import { objectAddress, signedHeaders } from '../../../../src/client/store/s3/sign.ts';

const endpoint = new URL('https://s3.example.com/base/');

describe('the address of an object', () => {
  it.each([
    [undefined, 'logs', 'tenant=1/a b', 'https://logs.s3.eu-central-1.amazonaws.com/tenant%3D1/a%20b'],
    [undefined, 'my.logs', 'a', 'https://s3.eu-central-1.amazonaws.com/my.logs/a'],
    [undefined, 'logs', '', 'https://logs.s3.eu-central-1.amazonaws.com/'],
    [endpoint, 'logs', "it's+(1)!*", 'https://s3.example.com/base/logs/it%27s%2B%281%29%21%2A'],
    [endpoint, 'logs', '', 'https://s3.example.com/base/logs'],
  ])('the address with endpoint %s, bucket %s and key %s is %s', (at, bucket, key, address) => {
    expect(objectAddress({ endpoint: at, region: 'eu-central-1' }, bucket, key).href).toBe(address);
  });

  it('the query of an address is encoded without a plus sign', () => {
    const query = { prefix: 'a b+c/', 'continuation-token': '1/+=' };
    expect(objectAddress({ endpoint, region: 'x' }, 'logs', '', query).search).toBe(
      '?prefix=a%20b%2Bc%2F&continuation-token=1%2F%2B%3D',
    );
  });
});

describe('a signed request', () => {
  it('a signed request has the signature of the example in the S3 documentation', async () => {
    const settings = {
      accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      sessionToken: undefined,
      region: 'us-east-1',
      endpoint: undefined,
    };
    const headers = await signedHeaders(
      {
        method: 'GET',
        url: new URL('https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J'),
        headers: {},
        sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        now: Date.UTC(2013, 4, 24),
      },
      settings,
    );
    expect(headers['x-amz-date']).toBe('20130524T000000Z');
    expect(headers['authorization']).toBe(
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, ' +
        'SignedHeaders=host;x-amz-content-sha256;x-amz-date, ' +
        'Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    );
  });
});
