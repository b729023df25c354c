import { describe, expect, it } from 'vitest';
import { sandbox, START, testClock } from '../harness.ts';
import { type BucketRequest, toBucket } from './bucket-request.ts';

type Bucket = (asked: BucketRequest) => ReturnType<typeof toBucket>;

async function buckets(): Promise<Bucket> {
  const { url } = await sandbox();
  return (asked) => toBucket(url, { at: START, ...asked });
}

function keys(text: string): (string | undefined)[] {
  return Array.from(text.matchAll(/<Key>([^<]*)/g), ([, key]) => key);
}

describe('the signature of a request to a bucket', () => {
  it('is accepted as a library makes it, whatever is in path, query and headers', async () => {
    const send = await buckets();
    const paths = ['a', 'a%20b', "it's%28ok%29", 'tenant%3D1/x', '%C3%BC', 'a%2Bb', 'a%25b'];
    for (const path of paths)
      expect(await send({ method: 'PUT', path: `/sandbox/${path}`, body: path })).toMatchObject({ status: 200 });
    for (const path of paths)
      expect(await send({ path: `/sandbox/${path}` })).toMatchObject({ status: 200, text: path });
    const query = '?list-type=2&prefix=a%20&max-keys=10&start-after=';
    expect((await send({ path: `/sandbox${query}` })).text).toContain('<KeyCount>1<');
    const headers = { 'x-amz-meta-note': 'a   b', 'content-md5': 'CY9rzUYh03PK3k6DJie09g==' };
    expect(await send({ method: 'PUT', path: '/sandbox/m', body: 'test', headers })).toMatchObject({ status: 200 });
  });

  it.each<[string, number, string, Partial<BucketRequest>]>([
    ['another key id', 403, 'InvalidAccessKeyId', { signer: { accessKeyId: 'another' } }],
    ['another secret', 403, 'SignatureDoesNotMatch', { signer: { secretAccessKey: 'another' } }],
    ['another region', 400, 'AuthorizationHeaderMalformed', { signer: { region: 'eu-west-1' } }],
    ['another service', 400, 'AuthorizationHeaderMalformed', { signer: { service: 'iam' } }],
    ['an old clock', 403, 'RequestTimeTooSkewed', { at: START - 16 * 60_000 }],
    ['a fast clock', 403, 'RequestTimeTooSkewed', { at: START + 16 * 60_000 }],
    ['another path', 403, 'SignatureDoesNotMatch', { tamper: (sent) => (sent.path = '/sandbox/other') }],
    ['another query', 403, 'SignatureDoesNotMatch', { tamper: (sent) => (sent.path += '?x=1') }],
    ['another body', 400, 'XAmzContentSHA256Mismatch', { tamper: (sent) => (sent.body = 'tesT') }],
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
  ])('is refused with %s', async (_, status, code, change) => {
    const send = await buckets();
    const asked = { method: 'PUT', path: '/sandbox/a', body: 'test', ...change };
    expect(await send(asked)).toMatchObject({ status, code });
    expect(await send({ path: '/sandbox/a' })).toMatchObject({ status: 404, code: 'NoSuchKey' });
  });
});

describe('a bucket', () => {
  it('keeps objects, gives ranges of them, and forgets them', async () => {
    const send = await buckets();
    const put = await send({ method: 'PUT', path: '/sandbox/a/b', body: 'test' });
    expect(put.headers).toMatchObject({ etag: '"098f6bcd4621d373cade4e832627b4f6"' });
    const range = await send({ path: '/sandbox/a/b', headers: { range: 'bytes=1-2' } });
    expect(range).toMatchObject({ status: 206, text: 'es', headers: { 'content-range': 'bytes 1-2/4' } });
    expect((await send({ path: '/sandbox/a/b', headers: { range: 'bytes=9-' } })).code).toBe('InvalidRange');
    const head = await send({ method: 'HEAD', path: '/sandbox/a/b' });
    expect(head).toMatchObject({ status: 200, text: '', headers: { 'content-length': '4' } });
    expect((await send({ path: '/sandbox/a/b', headers: { 'if-match': '"x"' } })).status).toBe(412);
    for (const _ of [1, 2]) expect((await send({ method: 'DELETE', path: '/sandbox/a/b' })).status).toBe(204);
    expect((await send({ method: 'HEAD', path: '/sandbox/a/b' })).status).toBe(404);
  });

  it('lists its objects in order, page by page, and by folders', async () => {
    const send = await buckets();
    for (const key of ['b/2', 'b/1', 'b-1', 'a', 'c&<'])
      await send({ method: 'PUT', path: `/sandbox/${encodeURIComponent(key)}`, body: key });
    const page = async (more: string) => (await send({ path: `/sandbox?list-type=2&${more}` })).text;
    expect(keys(await page(''))).toEqual(['a', 'b-1', 'b/1', 'b/2', 'c&amp;&lt;']);
    expect(keys(await page('encoding-type=url')).at(-1)).toBe('c%26%3C');
    const first = await page('max-keys=2');
    expect([keys(first), first.includes('<IsTruncated>true')]).toEqual([['a', 'b-1'], true]);
    const token = /<NextContinuationToken>([^<]*)/.exec(first)?.[1] ?? '';
    expect(keys(await page(`continuation-token=${encodeURIComponent(token)}`))).toHaveLength(3);
    expect((await page('prefix=b&delimiter=%2F')).match(/<Prefix>[^<]*/g)).toEqual(['<Prefix>b', '<Prefix>b/']);
  });

  it('takes an object only if it is new, where that is asked, also from many at once', async () => {
    const send = await buckets();
    const headers = { 'if-none-match': '*' };
    const writers = Array.from({ length: 8 }, (_, index) =>
      send({ method: 'PUT', path: '/sandbox/one', body: String(index), headers }),
    );
    const statuses = (await Promise.all(writers)).map(({ status }) => status);
    expect(statuses.toSorted((one, other) => one - other)).toEqual([200, ...Array<number>(7).fill(412)]);
    expect((await send({ path: '/sandbox/one' })).text).toBe(String(statuses.indexOf(200)));
    expect((await send({ method: 'PUT', path: '/sandbox/one', body: 'x' })).status).toBe(200);
  });

  it('has to be made first, but for the one that is there', async () => {
    const send = await buckets();
    expect((await send({ path: '/other?list-type=2' })).code).toBe('NoSuchBucket');
    expect((await send({ method: 'PUT', path: '/other/a', body: 'a' })).code).toBe('NoSuchBucket');
    expect((await send({ method: 'PUT', path: '/other' })).status).toBe(200);
    expect((await send({ method: 'PUT', path: '/other/a', body: 'a' })).status).toBe(200);
    expect((await send({ method: 'HEAD', path: '/other' })).status).toBe(200);
    expect((await send({ path: '/' })).text.match(/<Name>\w+/g)).toEqual(['<Name>other', '<Name>sandbox']);
    expect((await send({ method: 'PUT', path: '/No_Bucket' })).code).toBe('InvalidBucketName');
  });

  it('refuses bodies without a length, and what it does not do', async () => {
    const send = await buckets();
    const chunked = await send({
      method: 'PUT',
      path: '/sandbox/a',
      tamper: ({ headers }) => {
        delete headers['content-length'];
        headers['transfer-encoding'] = 'chunked';
      },
    });
    expect(chunked).toMatchObject({ status: 501, code: 'NotImplemented' });
    expect((await send({ method: 'POST', path: '/sandbox/a?uploads=' })).status).toBe(501);
    expect((await send({ path: '/sandbox' })).status).toBe(501);
  });

  it('is found again after a restart', async () => {
    const clock = testClock();
    const first = await sandbox({ clock });
    await toBucket(first.url, { method: 'PUT', path: '/sandbox/a', body: 'kept', at: START });
    const second = await sandbox({ clock, directory: first.directory });
    expect((await toBucket(second.url, { path: '/sandbox/a', at: START })).text).toBe('kept');
  });
});
