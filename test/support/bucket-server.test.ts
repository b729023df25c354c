import { describe, expect, it } from 'vitest';
import { type BucketRequest, toBucket } from './bucket-request.ts';
import { BucketServer } from './bucket-server.ts';

const NOW = Date.UTC(2026, 2, 1, 12);

/** Starts a bucket server with a stopped clock, and returns it with a function that sends requests to it. */
async function openBucket() {
  const server = await BucketServer.start();
  server.now = () => NOW;
  const send = (given: BucketRequest) => toBucket(server.url, { at: NOW, ...given });
  return { server, send };
}

function keys(text: string): (string | undefined)[] {
  return Array.from(text.matchAll(/<Key>([^<]*)/g), ([, key]) => key);
}

describe('the signature of a request to a bucket', () => {
  it('the signature of a request to a bucket is accepted as a library makes it, whatever is in path, query and headers', async () => {
    const { send } = await openBucket();
    const paths = ['a', 'a%20b', "it's%28ok%29", 'tenant%3D1/x', '%C3%BC', 'a%2Bb', 'a%25b'];
    for (const path of paths)
      expect(await send({ method: 'PUT', path: `/logs/${path}`, body: path })).toMatchObject({ status: 200 });
    for (const path of paths) expect(await send({ path: `/logs/${path}` })).toMatchObject({ status: 200, text: path });
    const query = '?list-type=2&prefix=a%20&max-keys=10&start-after=';
    expect((await send({ path: `/logs${query}` })).text).toContain('<KeyCount>1<');
    const headers = { 'x-amz-meta-note': 'a   b', 'content-md5': 'CY9rzUYh03PK3k6DJie09g==' };
    expect(await send({ method: 'PUT', path: '/logs/m', body: 'test', headers })).toMatchObject({ status: 200 });
  });

  it.each<[string, number, string, Partial<BucketRequest>]>([
    ['another key id', 403, 'InvalidAccessKeyId', { signer: { accessKeyId: 'another' } }],
    ['another secret', 403, 'SignatureDoesNotMatch', { signer: { secretAccessKey: 'another' } }],
    ['another region', 400, 'AuthorizationHeaderMalformed', { signer: { region: 'eu-west-1' } }],
    ['another service', 400, 'AuthorizationHeaderMalformed', { signer: { service: 'iam' } }],
    ['an old clock', 403, 'RequestTimeTooSkewed', { at: NOW - 16 * 60_000 }],
    ['a fast clock', 403, 'RequestTimeTooSkewed', { at: NOW + 16 * 60_000 }],
    ['another path', 403, 'SignatureDoesNotMatch', { tamper: (sent) => (sent.path = '/logs/other') }],
    ['another query', 403, 'SignatureDoesNotMatch', { tamper: (sent) => (sent.path += '?x=1') }],
    ['another body', 400, 'XAmzContentSHA256Mismatch', { tamper: (sent) => (sent.body = 'tesT') }],
    ['another MD5', 400, 'BadDigest', { headers: { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' } }],
    ['another condition', 403, 'AccessDenied', { tamper: ({ headers }) => (headers['x-amz-acl'] = 'public-read') }],
    [
      'another date',
      403,
      'SignatureDoesNotMatch',
      { tamper: ({ headers }) => (headers['x-amz-date'] = '20260301T120001Z') },
    ],
    [
      'another hash',
      403,
      'SignatureDoesNotMatch',
      { tamper: ({ headers }) => (headers['x-amz-content-sha256'] = '0'.repeat(64)) },
    ],
    ['no hash', 400, 'InvalidRequest', { tamper: ({ headers }) => delete headers['x-amz-content-sha256'] }],
    [
      'a cut header',
      400,
      'AuthorizationHeaderMalformed',
      { tamper: ({ headers }) => (headers['authorization'] = (headers['authorization'] ?? '').slice(0, -1)) },
    ],
  ])('the signature of a request to a bucket is refused with %s', async (_, status, code, change) => {
    const { send } = await openBucket();
    const request = { method: 'PUT', path: '/logs/a', body: 'test', ...change };
    expect(await send(request)).toMatchObject({ status, code });
    expect(await send({ path: '/logs/a' })).toMatchObject({ status: 404, code: 'NoSuchKey' });
  });
});

describe('a bucket', () => {
  it('a bucket keeps objects, gives ranges of them, and forgets them', async () => {
    const { send } = await openBucket();
    const put = await send({ method: 'PUT', path: '/logs/a/b', body: 'test' });
    expect(put.headers).toMatchObject({ etag: '"098f6bcd4621d373cade4e832627b4f6"' });
    const range = await send({ path: '/logs/a/b', headers: { range: 'bytes=1-2' } });
    expect(range).toMatchObject({ status: 206, text: 'es', headers: { 'content-range': 'bytes 1-2/4' } });
    expect((await send({ path: '/logs/a/b', headers: { range: 'bytes=9-' } })).code).toBe('InvalidRange');
    const head = await send({ method: 'HEAD', path: '/logs/a/b' });
    expect(head).toMatchObject({ status: 200, text: '', headers: { 'content-length': '4' } });
    expect((await send({ path: '/logs/a/b', headers: { 'if-match': '"x"' } })).status).toBe(412);
    for (const _ of [1, 2]) expect((await send({ method: 'DELETE', path: '/logs/a/b' })).status).toBe(204);
    expect((await send({ method: 'HEAD', path: '/logs/a/b' })).status).toBe(404);
  });

  it('a bucket lists its objects in order, page by page, and by folders', async () => {
    const { send } = await openBucket();
    for (const key of ['b/2', 'b/1', 'b-1', 'a', 'c&<'])
      await send({ method: 'PUT', path: `/logs/${encodeURIComponent(key)}`, body: key });
    const page = async (more: string) => (await send({ path: `/logs?list-type=2&${more}` })).text;
    expect(keys(await page(''))).toEqual(['a', 'b-1', 'b/1', 'b/2', 'c&amp;&lt;']);
    expect(keys(await page('encoding-type=url')).at(-1)).toBe('c%26%3C');
    const first = await page('max-keys=2');
    expect([keys(first), first.includes('<IsTruncated>true')]).toEqual([['a', 'b-1'], true]);
    const token = /<NextContinuationToken>([^<]*)/.exec(first)?.[1] ?? '';
    expect(keys(await page(`continuation-token=${encodeURIComponent(token)}`))).toHaveLength(3);
    expect((await page('prefix=b&delimiter=%2F')).match(/<Prefix>[^<]*/g)).toEqual(['<Prefix>b', '<Prefix>b/']);
  });

  it('a bucket takes one of several conditional writes at once', async () => {
    const { send } = await openBucket();
    const headers = { 'if-none-match': '*' };
    const writers = Array.from({ length: 8 }, (_, index) =>
      send({ method: 'PUT', path: '/logs/one', body: String(index), headers }),
    );
    const statuses = (await Promise.all(writers)).map(({ status }) => status);
    expect(statuses.toSorted((one, other) => one - other)).toEqual([200, ...Array<number>(7).fill(412)]);
    expect((await send({ path: '/logs/one' })).text).toBe(String(statuses.indexOf(200)));
    expect((await send({ method: 'PUT', path: '/logs/one', body: 'x' })).status).toBe(200);
  });

  it('a bucket refuses or ignores the condition of a write when the test says so', async () => {
    const { server, send } = await openBucket();
    const put = (body: string) => send({ method: 'PUT', path: '/logs/one', body, headers: { 'if-none-match': '*' } });
    server.conditions = { status: 501, code: 'NotImplemented' };
    expect(await put('a')).toMatchObject({ status: 501, code: 'NotImplemented' });
    expect((await send({ path: '/logs/one' })).status).toBe(404);
    server.conditions = 'ignored';
    for (const body of ['a', 'b']) expect((await put(body)).status).toBe(200);
    expect((await send({ path: '/logs/one' })).text).toBe('b');
  });

  it('a bucket is the only one', async () => {
    const { send } = await openBucket();
    expect((await send({ path: '/other?list-type=2' })).code).toBe('NoSuchBucket');
    expect((await send({ method: 'PUT', path: '/other/a', body: 'a' })).code).toBe('NoSuchBucket');
  });

  it('a bucket refuses chunked bodies and operations that an archive does not need', async () => {
    const { send } = await openBucket();
    const chunked = await send({
      method: 'PUT',
      path: '/logs/a',
      tamper: ({ headers }) => {
        delete headers['content-length'];
        headers['transfer-encoding'] = 'chunked';
      },
    });
    expect(chunked).toMatchObject({ status: 501, code: 'NotImplemented' });
    expect((await send({ method: 'POST', path: '/logs/a?uploads=' })).status).toBe(501);
    expect((await send({ path: '/logs' })).status).toBe(501);
  });
});
