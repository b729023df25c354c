import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { readRange } from '../../../src/emulator/store/responses.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { raw, sandbox, testClock, upload } from '../harness.ts';
import { until } from '../../support/until.ts';

const FILE = exampleRequestFile();
const LENGTH = Buffer.byteLength(FILE);
const md5 = (text: string, encoding: 'hex' | 'base64') => createHash('md5').update(text).digest(encoding);
const codeOf = (body: string) => /<Code>(.*)<\/Code>/.exec(body)?.[1];

describe('uploading', () => {
  it('an upload answers the MD5 as ETag and keeps the bytes for their owner alone', async () => {
    const on = await sandbox();
    const job = await on.createJob();
    const answer = await on.upload(job, FILE);
    expect([answer.status, answer.headers.get('etag')]).toEqual([200, `"${md5(FILE, 'hex')}"`]);
  });

  it('R34: an upload refuses a body without a length, chunked, or with an Authorization header', async () => {
    const on = await sandbox();
    const { upload_url } = await on.createJob();
    const put = (headers: Record<string, string | number>, chunks?: string[]) =>
      raw(upload_url, { method: 'PUT', headers, ...(chunks && { chunks }) });
    const chunked = await put({ 'transfer-encoding': 'chunked' }, [FILE]);
    expect([chunked.status, codeOf(chunked.body)]).toEqual([501, 'NotImplemented']);
    const authorized = await put({ 'content-length': LENGTH, authorization: 'Bearer x' }, [FILE]);
    expect([authorized.status, codeOf(authorized.body)]).toEqual([400, 'InvalidArgument']);
    const bare = await withoutLength(upload_url);
    expect(bare).toContain('HTTP/1.1 411');
    expect(codeOf(bare)).toBe('MissingContentLength');
    expect(on.files()).toEqual([]);
    expect((await put({ 'content-length': LENGTH }, [FILE])).status).toBe(200);
  });

  it('R03: an upload takes a stray key without a word, and remembers it', async () => {
    const on = await sandbox();
    const job = await on.createJob();
    const answer = await on.upload(job, FILE, { 'SVC-API-KEY': 'sandbox-private-key' });
    expect(answer.status).toBe(200);
    expect(on.ledger().at(-1)).toMatchObject({ method: 'PUT', key: 'sandbox-private-key' });
  });

  it('an upload honors Content-MD5', async () => {
    const on = await sandbox();
    const job = await on.createJob();
    const bad = await on.upload(job, FILE, { 'content-md5': md5('other', 'base64') });
    expect([bad.status, codeOf(await bad.text())]).toEqual([400, 'BadDigest']);
    expect(on.files()).toEqual([]);
    expect((await on.readJob(job.id)).status).toBe('pending');
    expect((await on.upload(job, FILE, { 'content-md5': md5(FILE, 'base64') })).status).toBe(200);
  });

  it('an upload leaves nothing of an upload that breaks off', async () => {
    const on = await sandbox();
    const job = await on.createJob();
    const url = new URL(job.upload_url);
    const socket = connect(Number(url.port), url.hostname);
    socket.write(`PUT ${url.pathname}${url.search} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\ntoken,`);
    await until(() => on.files().length === 1);
    socket.destroy();
    await until(() => on.files().length === 0);
    await until(() => on.ledger().some((entry) => entry.aborted && entry.status === 0));
    expect((await on.readJob(job.id)).status).toBe('pending');
    expect((await on.upload(job, FILE)).status).toBe(200);
  });

  it('an upload asks for the body only when it wants it', async () => {
    const on = await sandbox();
    const { upload_url } = await on.createJob();
    const wanted = await exchange(upload_url, 'expect: 100-continue\r\ncontent-length: 5\r\n');
    expect(wanted).toMatch(/^HTTP\/1\.1 100 /);
    const refused = await exchange(`${upload_url}x`, 'expect: 100-continue\r\ncontent-length: 5\r\n');
    expect(refused).toMatch(/^HTTP\/1\.1 403 /);
  });

  it('an upload is over once processing began', async () => {
    const on = await sandbox();
    const job = await on.createJob();
    await on.upload(job, FILE);
    const again = await on.upload(job, FILE);
    expect([again.status, codeOf(await again.text())]).toEqual([403, 'AccessDenied']);
  });

  it('an upload expires with the job', async () => {
    const on = await sandbox();
    const job = await on.createJob();
    on.clock.ms += 3_600_000 - 1;
    expect((await on.upload(job, 'wrong')).status).toBe(200);
    const late = await on.createJob();
    on.clock.ms += 3_600_000;
    const answer = await on.upload(late, FILE);
    expect([answer.status, codeOf(await answer.text())]).toEqual([403, 'AccessDenied']);
  });
});

it('addresses hold for one method and one object, unaltered', async () => {
  const on = await sandbox();
  const done = await on.process(FILE);
  const open = await on.createJob();
  const altered = [
    ['GET', open.upload_url],
    ['POST', open.upload_url],
    ['DELETE', open.upload_url],
    ['HEAD', done.download_url],
    ['PUT', done.download_url],
    ['PUT', open.upload_url.replace(open.id, done.id)],
    ['GET', done.download_url.replace(done.id, open.id)],
    ['PUT', open.upload_url.replace(/expires=\d+/, 'expires=9999999999')],
    ['PUT', open.upload_url.replace(/signature=(.)/, (_, first) => `signature=${first === '_' ? '-' : '_'}`)],
    ['PUT', open.upload_url.replace(/&signature=.*/, '')],
    ['GET', `${on.url}/store/anything`],
  ];
  for (const [method, url] of altered) {
    const answer = await raw(url!, { method: method!, headers: { 'content-length': 0 } });
    expect([method, url, answer.status]).toEqual([method, url, 403]);
    expect(codeOf(answer.body) ?? method).toMatch(/^(SignatureDoesNotMatch|AccessDenied|HEAD)$/);
  }
  expect((await fetch(done.download_url)).status).toBe(200);
});

it('R07: addresses come with error bodies that echo signatures, as those of real stores do', async () => {
  const on = await sandbox();
  const { upload_url } = await on.createJob();
  const answer = await fetch(upload_url.replace('expires=1', 'expires=2'), { method: 'PUT', body: FILE });
  const body = await answer.text();
  expect(body).toContain(new URL(upload_url).searchParams.get('signature'));
  expect(body).toContain(`<RequestId>${answer.headers.get('x-request-id')}</RequestId>`);
  expect(answer.headers.get('content-type')).toBe('application/xml');
});

it('addresses let downloads expire after a quarter of an hour; reading the job again gives a new one', async () => {
  const on = await sandbox();
  const job = await on.process(FILE);
  on.clock.ms += 15 * 60_000 - 1;
  expect((await fetch(job.download_url)).status).toBe(200);
  on.clock.ms += 1;
  const late = await fetch(job.download_url);
  expect([late.status, codeOf(await late.text())]).toEqual([403, 'AccessDenied']);
  expect((await fetch((await on.readJob(job.id)).download_url)).status).toBe(200);
});

it('addresses hold in every process of the directory, and not in another directory', async () => {
  const clock = testClock();
  const one = await sandbox({ clock });
  const two = await sandbox({ clock, directory: one.directory });
  const stranger = await sandbox({ clock });
  const job = await one.createJob();
  const at = (url: string, on: { url: string }) => url.replace(one.url, on.url);

  expect((await upload({ ...job, upload_url: at(job.upload_url, stranger) }, FILE)).status).toBe(403);
  expect((await upload({ ...job, upload_url: at(job.upload_url, two) }, FILE)).status).toBe(200);
  const done = await two.readJob(job.id);
  expect(done.download_url.startsWith(two.url)).toBe(true);
  expect((await fetch(at(done.download_url.replace(two.url, one.url), one))).status).toBe(200);
});

describe('downloading', () => {
  it('a download answers whole files with length, type and a strong ETag that is their MD5', async () => {
    const on = await sandbox();
    const job = await on.process(FILE);
    const answer = await fetch(job.download_url);
    const text = await answer.text();
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'accept-ranges': 'bytes',
      'content-length': String(Buffer.byteLength(text)),
      'content-type': 'text/csv',
      etag: `"${md5(text, 'hex')}"`,
    });
  });

  it('a download answers ranges', async () => {
    const on = await sandbox();
    const job = await on.process(FILE);
    const whole = await (await fetch(job.download_url)).text();
    const get = async (range: string) => {
      const answer = await raw(job.download_url, { method: 'GET', headers: { range } });
      return [answer.status, answer.headers['content-range'], answer.body];
    };
    const size = whole.length;
    expect(await get('bytes=0-4')).toEqual([206, `bytes 0-4/${size}`, whole.slice(0, 5)]);
    expect(await get('bytes=100-')).toEqual([206, `bytes 100-${size - 1}/${size}`, whole.slice(100)]);
    expect(await get('bytes=-7')).toEqual([206, `bytes ${size - 7}-${size - 1}/${size}`, whole.slice(-7)]);
    expect(await get(`bytes=5-${size * 2}`)).toEqual([206, `bytes 5-${size - 1}/${size}`, whole.slice(5)]);
    for (const range of ['bytes=0-1,3-4', 'lines=0-1', 'bytes=4-2', 'bytes=-'])
      expect(await get(range)).toEqual([200, undefined, whole]);
    for (const range of [`bytes=${size}-`, 'bytes=-0'])
      expect((await get(range)).slice(0, 2)).toEqual([416, `bytes */${size}`]);
  });

  it('R45: a download honors If-Match, and ignores If-Range', async () => {
    const on = await sandbox();
    const job = await on.process(FILE);
    const etag = (await fetch(job.download_url)).headers.get('etag')!;
    const get = async (headers: Record<string, string>) =>
      (await raw(job.download_url, { method: 'GET', headers: { range: 'bytes=1-2', ...headers } })).status;
    expect(await get({ 'if-match': etag })).toBe(206);
    expect(await get({ 'if-match': `"a", ${etag}` })).toBe(206);
    expect(await get({ 'if-match': '*' })).toBe(206);
    expect(await get({ 'if-match': '"other"' })).toBe(412);
    expect(await get({ 'if-range': '"other"' })).toBe(206);
    expect(await get({ authorization: 'Bearer x' })).toBe(400);
  });

  it('a download reads ranges of an empty file as not to be satisfied', () => {
    expect(readRange('bytes=0-', 0)).toBe('unsatisfiable');
    expect(readRange(undefined, 0)).toBeUndefined();
  });
});

function withoutLength(url: string): Promise<string> {
  return exchange(url, 'connection: close\r\n');
}

/** Sends a PUT head unchanged, without a body, and returns the first data that comes back. */
function exchange(url: string, headers: string): Promise<string> {
  const { port, hostname, pathname, search } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    socket.on('error', reject).once('data', (data) => {
      resolve(data.toString());
      socket.destroy();
    });
    socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nhost: ${hostname}\r\n${headers}\r\n`);
  });
}
