import { createHash } from 'node:crypto';
import fs from 'node:fs';
import type { Socket } from 'node:net';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../../../src/client/store/open-store.ts';
import { type LocalFile, readText, type Store, type StoreHost } from '../../../../src/client/store/store.ts';
import { ARCHIVE } from '../../../../src/logs/archive/records/record.ts';
import { type BucketHook, BucketServer } from '../../../support/bucket-server.ts';
import { temporaryDirectory } from '../../../support/directory.ts';

let top: string;
let bucket: BucketServer;
let store: Store;
let slept: number[];
let warnings: string[];
/** Called before each request. Returns true if it has sent the response. */
let meddle: (...exchange: Parameters<BucketHook>) => boolean;
let ahead: number;

beforeEach(async () => {
  top = temporaryDirectory();
  [meddle, ahead, slept, warnings] = [() => false, 0, [], []];
  bucket = await BucketServer.start();
  bucket.now = () => Date.now() + ahead;
  bucket.hook = (incoming, outgoing, proceed) => {
    if (!meddle(incoming, outgoing, proceed)) proceed();
  };
  store = await openStore(host(), 's3://logs/some/where', ARCHIVE);
});

function host(env: Record<string, string | undefined> = {}): StoreHost {
  return {
    env: { SVC_STATE_DIR: path.join(top, 'state'), ...bucket.environment, ...env },
    bucketWork: () => path.join(top, 'archives'),
    cwd: top,
    pid: 1,
    isAlive: () => true,
    clock: { now: Date.now, sleep: pause },
    signal: new AbortController().signal,
    onWarning: (text) => void warnings.push(text),
  };
}

async function pause(ms: number): Promise<void> {
  slept.push(ms);
  await new Promise((resolve) => setTimeout(resolve, Math.min(ms, 5)));
}

function localFile(text: string): LocalFile {
  const file = path.join(store.workDirectory, 'made');
  fs.writeFileSync(file, text);
  return { path: file, bytes: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex') };
}

async function paths(prefix: string, from = store, after?: string): Promise<string[]> {
  const found: string[] = [];
  for await (const file of from.list(prefix, after)) found.push(`${file.path} ${file.bytes}`);
  return found;
}

async function text(file: string): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of store.stream(file)) parts.push(part);
  return Buffer.concat(parts).toString();
}

function refuse(outgoing: Parameters<BucketHook>[1], status: number, code: string, more = ''): true {
  outgoing.writeHead(status, { 'content-type': 'application/xml' });
  outgoing.end(`<Error><Code>${code}</Code><Message>no</Message>${more}</Error>`);
  return true;
}

/** Breaks a response off after half a million bytes. */
function breakOff(socket: Socket, outgoing: Parameters<BucketHook>[1]): false {
  const write = outgoing.write.bind(outgoing);
  let sent = 0;
  outgoing.write = (chunk: Buffer) => {
    sent += chunk.length;
    if (sent > 500_000) socket.resetAndDestroy();
    return write(chunk);
  };
  return false;
}

describe('an archive in a bucket', () => {
  it('an unwritten bucket lists no files and has no names', async () => {
    expect(await paths('')).toEqual([]);
    expect(await readText(store, '_manifest/head.json')).toBeUndefined();
    await expect(text('a')).rejects.toMatchObject({ code: 'not_found' });
    expect(store.name).toBe('s3://logs/some/where');
  });

  it('a bucket creates complete files, from text and from a local file, and never overwrites one', async () => {
    await store.lock(async () => {
      expect(await store.create('_manifest/00000000.json', 'one\n')).toBe('created');
      expect(await store.create('_manifest/00000000.json', 'two\n')).toBe('exists');
      expect(await store.create('tenant=1/date=2026-01-31/c.gz', localFile('hello'))).toBe('created');
      expect(await store.create('tenant=1/date=2026-01-31/c.gz', localFile('other'))).toBe('exists');
      await store.put('_manifest/head.json', '1');
      await store.put('_manifest/head.json', '2');
    });
    expect(await readText(store, '_manifest/00000000.json')).toBe('one\n');
    expect(await text('tenant=1/date=2026-01-31/c.gz')).toBe('hello');
    expect(await readText(store, '_manifest/head.json')).toBe('2');
    const all = ['_manifest/00000000.json 4', '_manifest/head.json 1', 'tenant=1/date=2026-01-31/c.gz 5'];
    expect(await paths('')).toEqual(all);
    expect(await paths('tenant=')).toEqual(all.slice(2));
    expect(await paths('', await openStore(host(), 's3://logs', ARCHIVE))).toEqual(
      all.map((one) => `some/where/${one}`),
    );
    await store.remove('tenant=1/date=2026-01-31/c.gz');
    await store.remove('tenant=1/date=2026-01-31/c.gz');
    expect(await paths('tenant=')).toEqual([]);
    expect(warnings).toEqual([]);
    expect(fs.existsSync(store.workDirectory)).toBe(false);
  });

  it('R34: uploads to a bucket have an exact length and a signed hash, and are never chunked', async () => {
    const seen: unknown[] = [];
    meddle = ({ method, headers }) => {
      if (method === 'PUT') seen.push([headers['content-length'], headers['x-amz-content-sha256']]);
      return headers['transfer-encoding'] !== undefined;
    };
    await store.lock(async () => {
      const file = localFile('x'.repeat(3_000_000));
      await store.create('big', file);
      expect(seen).toEqual([['3000000', file.sha256]]);
    });
  });

  it('a bucket with Object Lock gets the hash that it needs with a file and with text', async () => {
    const seen: unknown[] = [];
    meddle = ({ method, headers }) => {
      if (method === 'PUT') seen.push(headers['content-md5']);
      return false;
    };
    await store.lock(async () => {
      await store.create('file', localFile('hello'));
      await store.create('text', 'hello');
      await store.put('text', 'hello');
    });
    const md5 = createHash('md5').update('hello').digest('base64');
    expect([...new Set(seen)]).toEqual([md5]);
  });

  it('a bucket finds a file that its list does not show yet, and none that does not exist or may not be read', async () => {
    bucket.put('some/where/a', Buffer.from('hello'));
    bucket.listedAfterMs = 60_000;
    expect(await paths('')).toEqual([]);
    expect(await store.find('a')).toEqual({ path: 'a', bytes: 5 });
    expect(await store.find('b')).toBeUndefined();
    meddle = ({ method }, outgoing) => method === 'HEAD' && outgoing.writeHead(403).end() !== undefined;
    expect(await store.find('a')).toBeUndefined();
  });

  it('a bucket lists more than one page', async () => {
    bucket.pageSize = 4;
    const names = Array.from({ length: 11 }, (_, index) => String(index).padStart(5, '0'));
    await Promise.all(names.map((name) => store.put(name, '')));
    expect(await paths('')).toEqual(names.map((name) => `${name} 0`));
    expect(await paths('', store, '00001')).toEqual(names.slice(2).map((name) => `${name} 0`));
  });

  it('the names at the top of a bucket take as many requests as there are names, and not as there are objects', async () => {
    for (const name of ['b', 'a/1', 'a/2', 'a/3/x', 'c/1', 'c/2']) await store.put(name, '');
    bucket.pageSize = 2;
    let lists = 0;
    meddle = ({ url }) => {
      if (url?.includes('list-type=2') === true) lists += 1;
      return false;
    };
    expect(await store.names()).toEqual(['a/', 'b', 'c/']);
    expect(lists).toBe(2);
  });

  it.each([
    ['tokens that go round', (page: number) => ({ token: 'ABC'.charAt(page % 3), key: `k${page}` })],
    ['the same page with new tokens', (page: number) => ({ token: `t${page}`, key: 'k' })],
    ['empty pages with tokens that go round', (page: number) => ({ token: 'ABC'.charAt(page % 3), key: undefined })],
  ])('R26: a bucket whose list never ends, by %s, is an error after a few requests', async (_, pageOf) => {
    let pages = 0;
    meddle = ({ url }, outgoing) => {
      if (url?.includes('list-type=2') !== true || pages > 20) return false;
      const { token, key } = pageOf(pages++);
      const object = key === undefined ? '' : `<Contents><Key>some/where/${key}</Key><Size>1</Size></Contents>`;
      const next = `<IsTruncated>true</IsTruncated><NextContinuationToken>${token}</NextContinuationToken>`;
      outgoing.end(`<ListBucketResult>${next}${object}</ListBucketResult>`);
      return true;
    };
    await expect(paths('')).rejects.toMatchObject({ code: 'bad_response' });
    expect(pages).toBeLessThanOrEqual(4);
  });

  it('a bucket that sends empty parts of an object is an error after five attempts', async () => {
    let gets = 0;
    meddle = ({ method }, outgoing) => {
      if (method !== 'GET' || (gets += 1) > 20) return false;
      outgoing.writeHead(206, { 'content-range': 'bytes 0-99/100', 'content-length': 0, etag: '"x"' }).end();
      return true;
    };
    await expect(text('a')).rejects.toMatchObject({ code: 'network' });
    expect(gets).toBe(5);
  });

  it('a store that responds with 501 to a condition is checked before each write, with one warning', async () => {
    bucket.conditions = { status: 501, code: 'NotImplemented' };
    expect(await store.create('a', 'one')).toBe('created');
    expect(await store.create('a', 'two')).toBe('exists');
    expect(await store.create('b', 'two')).toBe('created');
    expect(await readText(store, 'a')).toBe('one');
    expect(warnings).toEqual([expect.stringContaining('no conditional writes')]);
  });

  it('a writer notices that another one was faster in a store without conditional writes', async () => {
    let other: Store | undefined;
    bucket.conditions = { status: 501, code: 'NotImplemented' };
    meddle = ({ method, headers }, outgoing) => {
      if (method !== 'PUT' || headers['if-none-match'] !== undefined || other === undefined) return false;
      const writer = other;
      other = undefined;
      const end = outgoing.end.bind(outgoing);
      outgoing.end = () => {
        void writer.put('a', 'theirs').then(() => end());
        return outgoing;
      };
      return false;
    };
    other = await openStore(host(), 's3://logs/some/where', ARCHIVE);
    expect(await store.create('a', 'mine')).toBe('exists');
    expect(await readText(store, 'a')).toBe('theirs');
  });

  it('a writer notices a store that silently ignores the condition', async () => {
    const loose = await openStore(host(), 's3://logs/loose', ARCHIVE);
    bucket.conditions = 'ignored';
    expect(await loose.create('a', 'one')).toBe('created');
    expect(warnings).toHaveLength(1);
    expect(await loose.create('a', 'two')).toBe('exists');
    const other = await openStore(host(), 's3://logs/loose', ARCHIVE);
    expect(await other.create('a', 'two')).toBe('exists');
    expect(await readText(loose, 'a')).toBe('one');
  });

  it('R15: a write that the store answers with 409 is sent again, since the write that was under way may have failed', async () => {
    const conflicts = new Map<string, number>();
    meddle = ({ method, url = '' }, outgoing) => {
      const count = (conflicts.get(url) ?? 0) + 1;
      if (method !== 'PUT' || count > 4) return false;
      conflicts.set(url, count);
      return refuse(outgoing, 409, 'ConditionalRequestConflict');
    };
    expect(await store.create('a', 'one')).toBe('created');
    await store.lock(async () => expect(await store.create('b', localFile('two'))).toBe('created'));
    await store.put('head', 'three');
    expect([await readText(store, 'a'), await text('b'), await readText(store, 'head')]).toEqual([
      'one',
      'two',
      'three',
    ]);
  });

  it.each([
    ['theirs', 'exists'],
    ['mine', 'created'],
    [undefined, expect.objectContaining({ code: 'server', retryable: true, status: 409 })],
  ])(
    'a write that is always answered with 409 is judged by the object there afterwards: %s',
    async (content, outcome) => {
      if (content !== undefined) await store.put('a', content);
      let heads = 0;
      meddle = ({ method }, outgoing) => {
        if (method === 'HEAD' && (heads += 1) === 1) return refuse(outgoing, 404, 'NoSuchKey');
        return method === 'PUT' && refuse(outgoing, 409, 'ConditionalRequestConflict');
      };
      expect(await store.create('a', 'mine').catch((error: unknown) => error)).toEqual(outcome);
    },
  );

  it('a writer recognizes its file when the response to its first attempt was lost', async () => {
    let puts = 0;
    meddle = ({ method, socket }, outgoing, proceed) => {
      if (method !== 'PUT' || (puts += 1) > 1) return false;
      outgoing.end = () => {
        socket.resetAndDestroy();
        return outgoing;
      };
      proceed();
      return true;
    };
    expect(await store.create('a', 'mine')).toBe('created');
    expect(await readText(store, 'a')).toBe('mine');
    puts = 0;
    expect(await store.create('a', 'theirs')).toBe('exists');
  });

  it('R15: a writer continues after a store was busy or broke off', async () => {
    let count = 0;
    meddle = ({ socket }, outgoing) => {
      count += 1;
      if (count % 3 === 1) return refuse(outgoing, 503, 'SlowDown');
      if (count % 3 === 2) socket.resetAndDestroy();
      return count % 3 === 2;
    };
    expect(await store.create('a', 'one')).toBe('created');
    expect(await readText(store, 'a')).toBe('one');
    expect(slept.length).toBeGreaterThanOrEqual(3);
  });

  it('R46: a reader resumes a body that broke off, from the same version of the object', async () => {
    const content = createHash('sha512').update('seed').digest('hex').repeat(20_000);
    await store.lock(async () => void (await store.create('big', localFile(content))));
    let gets = 0;
    meddle = ({ method, socket }, outgoing) => {
      if (method !== 'GET' || (gets += 1) > 2) return false;
      return breakOff(socket, outgoing);
    };
    expect(await text('big')).toBe(content);
    expect(gets).toBe(3);
  });

  it('a reader gets nothing of an empty object, and an error for a range that an object is too short for', async () => {
    await store.create('empty', '');
    expect(await text('empty')).toBe('');
    await expect(store.readRange('empty', 0, 4)).rejects.toMatchObject({ code: 'checksum_mismatch' });
    await store.create('four', 'four');
    await expect(store.readRange('four', 9, 4)).rejects.toThrow('it is too short');
  });

  it('a reader fails when an object changes between two ranges', async () => {
    const content = 'x'.repeat(2_000_000);
    await store.lock(async () => void (await store.create('big', localFile(content))));
    meddle = ({ method, socket }, outgoing) => {
      if (method !== 'GET') return false;
      return breakOff(socket, outgoing);
    };
    const reading = store.stream('big')[Symbol.asyncIterator]();
    await reading.next();
    await store.put('big', 'y'.repeat(2_000_000));
    const rest = (async () => {
      for (;;) if ((await reading.next()).done === true) return;
    })();
    await expect(rest).rejects.toMatchObject({ code: 'checksum_mismatch' });
  });

  it.each([
    ['another secret', { AWS_SECRET_ACCESS_KEY: 'canary-secret' }, 'unauthorized', 'SignatureDoesNotMatch'],
    ['another key id', { AWS_ACCESS_KEY_ID: 'canary-id' }, 'unauthorized', 'InvalidAccessKeyId'],
    ['another region', { AWS_REGION: 'eu-west-1' }, 'config', 'AWS_REGION=us-east-1'],
  ])('R06: the error for %s names the setting, and shows no credential', async (_, env, code, words) => {
    const other = await openStore(host(env), 's3://logs/x', ARCHIVE);
    const error = await readText(other, 'a').catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code });
    const shown = JSON.stringify(error) + String(error);
    expect(shown).toContain(words);
    expect(shown).not.toMatch(/canary|Signature=|bucket-(access|secret)-key/);
  });

  it('the error of a bucket names what is missing or wrong', async () => {
    const other = await openStore(host(), 's3://absent/x', ARCHIVE);
    await expect(readText(other, 'a')).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('there is no bucket absent (404 NoSuchBucket'),
    });
    meddle = (_, outgoing) => refuse(outgoing, 403, 'AccessDenied');
    await expect(store.create('a', '')).rejects.toMatchObject({
      code: 'forbidden',
      hint: expect.stringContaining('s3:PutObject'),
    });
    await expect(paths('')).rejects.toMatchObject({ hint: expect.stringContaining('s3:ListBucket') });
    // A store says the same of an object that does not exist to those who may not list.
    await expect(readText(store, 'a')).rejects.toMatchObject({
      code: 'forbidden',
      hint: 'Allow s3:GetObject and s3:ListBucket on the bucket, or use other credentials.',
    });
    meddle = (_, outgoing) => refuse(outgoing, 404, 'NoSuchKey');
    await expect(paths('')).rejects.toMatchObject({
      code: 'config',
      hint: expect.stringContaining('AWS_ENDPOINT_URL_S3'),
    });
    meddle = (_, outgoing) => refuse(outgoing, 503, 'SlowDown');
    await expect(readText(store, 'a')).rejects.toMatchObject({ code: 'rate_limited' });
    meddle = (_, outgoing) => refuse(outgoing, 301, 'PermanentRedirect', '<Region>eu-west-1</Region>');
    await expect(readText(store, 'a')).rejects.toMatchObject({ hint: 'Set AWS_REGION=eu-west-1.' });
    meddle = (_, outgoing) => refuse(outgoing, 400, 'ExpiredToken', '<Region>us-east-1</Region>');
    await expect(readText(store, 'a')).rejects.toMatchObject({ code: 'unauthorized' });
    meddle = (_, outgoing) => {
      outgoing.end('<html>welcome</html>');
      return true;
    };
    await expect(paths('')).rejects.toMatchObject({ code: 'bad_response' });
    meddle = (_, outgoing) => {
      outgoing.socket?.resetAndDestroy();
      return true;
    };
    await expect(readText(store, 'a')).rejects.toMatchObject({
      code: 'network',
      retryable: true,
      facts: { system_code: 'ECONNRESET' },
    });
  });

  it('a write to a bucket is not done where a web page comes in response to it', async () => {
    await store.create('a', 'one');
    meddle = ({ method }, outgoing) => {
      if (method === 'HEAD' || method === 'GET') return false;
      outgoing.setHeader('content-type', 'text/html').end('<html><title>Sign in</title></html>');
      return true;
    };
    const refused = {
      code: 'bad_response',
      message: expect.stringContaining(
        'a web page came in response to a write, so the store may not have made it (200: Sign in',
      ),
      hint: expect.stringContaining('proxy'),
    };
    await expect(store.create('b', 'one')).rejects.toMatchObject(refused);
    await expect(store.put('a', 'two')).rejects.toMatchObject(refused);
    await expect(store.remove('a')).rejects.toMatchObject(refused);
  });

  it.each([
    { method: 'GET', what: 'a text', read: (from: Store) => readText(from, 'a') },
    { method: 'GET', what: 'a range', read: (from: Store) => from.readRange('a', 0, 3) },
    { method: 'HEAD', what: 'whether it exists', read: (from: Store) => from.create('b', 'one') },
  ])(
    'a web page in response to $method of an object in a bucket ($what) is neither damage nor the write of another machine',
    async ({ method, read }) => {
      await store.create('a', 'one');
      const fresh = await openStore(host(), 's3://logs/some/where', ARCHIVE);
      meddle = (incoming, outgoing) => {
        if (incoming.method !== method || incoming.url?.includes('list-type')) return false;
        outgoing.setHeader('content-type', 'text/html; charset=utf-8').end('<html><title>Sign in</title></html>');
        return true;
      };
      await expect(read(fresh)).rejects.toMatchObject({
        code: 'bad_response',
        exitCode: 8,
        message: expect.stringContaining('a web page came instead of an object'),
        hint: expect.stringContaining('proxy'),
      });
    },
  );

  it.each([301, 307, 400, 403])(
    'the error of a bucket that refuses with %i to say whether an object exists is that of the write, which has words',
    async (status) => {
      meddle = (_, outgoing) => refuse(outgoing, status, 'RefusedForAReason');
      await expect(store.create('a', '')).rejects.toMatchObject({
        message: expect.stringContaining(`${status} RefusedForAReason`),
      });
    },
  );

  it("R25: requests are signed by the store's clock when this machine's is wrong", async () => {
    ahead = 26 * 3_600_000;
    expect(await store.create('a', 'one')).toBe('created');
    ahead = -26 * 3_600_000;
    expect(await readText(store, 'a')).toBe('one');
    expect(slept).toEqual([]);
  });

  it('a bucket has one writer at a time on this machine', async () => {
    const order: string[] = [];
    const work = (name: string) => async (): Promise<void> => {
      order.push(name);
      await new Promise((resolve) => setTimeout(resolve, 20));
      order.push(name);
    };
    await Promise.all([store.lock(work('a')), store.lock(work('b'))]);
    expect([order[0], order[2]]).toEqual([order[1], order[3]]);
  });
});

describe('a location in a bucket', () => {
  it.each(['s3://', 's3://b', 's3:///x', 's3://bucket/../x', 's3://bucket/a?b', 's3://user:pw@bucket/x'])(
    '%s is refused as a location',
    async (place) => {
      await expect(openStore(host(), place, ARCHIVE)).rejects.toMatchObject({ code: 'usage' });
    },
  );

  it.each<[string, Record<string, string | undefined>, string]>([
    ['AWS_ACCESS_KEY_ID', { AWS_ACCESS_KEY_ID: undefined }, 'key_missing'],
    ['AWS_SECRET_ACCESS_KEY', { AWS_SECRET_ACCESS_KEY: ' ' }, 'key_missing'],
    ['AWS_SECRET_ACCESS_KEY', { AWS_SECRET_ACCESS_KEY: 'canary\ncanary' }, 'config'],
    ['AWS_ENDPOINT_URL_S3', { AWS_ENDPOINT_URL_S3: 'http://canary.example' }, 'config'],
    ['AWS_ENDPOINT_URL', { AWS_ENDPOINT_URL_S3: '', AWS_ENDPOINT_URL: 'https://canary:x@s3.example' }, 'config'],
    ['AWS_REGION', { AWS_REGION: 'canary/x' }, 'config'],
  ])('R04: a wrong %s is refused, and the error does not show it', async (name, env, code) => {
    const error = await openStore(host(env), 's3://bucket/x', ARCHIVE).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code, message: expect.stringContaining(name) });
    expect(JSON.stringify(error) + String(error)).not.toContain('canary');
  });
});
