import { beforeEach, describe, expect, it } from 'vitest';
import type { ObjectStore } from '../../../../src/client/store/store.ts';
import { openStore } from '../../../../src/client/store/open-store.ts';
import { type BucketHook, BucketServer } from '../../../support/bucket-server.ts';

let bucket: BucketServer;
let objects: ObjectStore;
let requests: string[];
/** Called before each request. Returns true if it has sent the response. */
let meddle: (...exchange: Parameters<BucketHook>) => boolean;

beforeEach(async () => {
  [meddle, requests] = [() => false, []];
  bucket = await BucketServer.start();
  bucket.hook = (incoming, outgoing, proceed) => {
    requests.push(incoming.method ?? '');
    if (!meddle(incoming, outgoing, proceed)) proceed();
  };
  objects = await open();
});

function open(): Promise<ObjectStore> {
  const host = {
    env: bucket.environment,
    cwd: '/',
    pid: 1,
    isAlive: () => true,
    clock: { now: Date.now, sleep: () => new Promise<void>((resolve) => setTimeout(resolve, 1)) },
    signal: new AbortController().signal,
  };
  return openStore(host, 's3://logs/ledger', { noun: 'ledger', writers: 'machines' });
}

const bytes = (text: string): Uint8Array => Buffer.from(text);

async function read(name: string): Promise<string | undefined> {
  const found = await objects.read(name, 1_000);
  return found && Buffer.from(found).toString();
}

async function names(prefix: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { path } of objects.list(prefix)) found.push(path);
  return found;
}

/** Responds to the first PUTs with an error, before or after the store has acted. */
function failPuts(times: number, status: number, code: string): void {
  let failures = 0;
  meddle = (incoming, outgoing) => {
    if (incoming.method !== 'PUT' || failures === times) return false;
    failures += 1;
    incoming.resume();
    outgoing.writeHead(status, { 'content-type': 'application/xml' });
    outgoing.end(`<Error><Code>${code}</Code><Message>no</Message></Error>`);
    return true;
  };
}

/** Breaks the bodies of the first GETs off after some bytes. */
function breakBodies(times: number): void {
  let broken = 0;
  meddle = (incoming, outgoing) => {
    if (incoming.method !== 'GET' || broken === times) return false;
    broken += 1;
    outgoing.writeHead(200, { 'content-length': 1_000 });
    outgoing.write('<ListBucketResult>', () => outgoing.destroy());
    return true;
  };
}

describe('objects in a bucket', () => {
  it('an object is created once and read back', async () => {
    expect(await objects.create('one/1', bytes('first'))).toBe('created');
    expect(await objects.create('one/1', bytes('second'))).toBe('exists');
    expect(await read('one/1')).toBe('first');
    expect(await read('one/2')).toBeUndefined();
    expect(await names('one/')).toEqual(['one/1']);
  });

  it('an object is read over a new connection, which shows what another machine sees', async () => {
    await objects.create('a', bytes('a'));
    const connections: (number | undefined)[] = [];
    meddle = (incoming) => {
      if (incoming.method === 'GET') connections.push(incoming.socket.remotePort);
      return false;
    };
    for (let time = 0; time < 3; time += 1) expect(await read('a')).toBe('a');
    expect(new Set(connections).size).toBe(3);
  });

  it('of many writers at once one creates an object', async () => {
    const writers = await Promise.all(Array.from({ length: 8 }, open));
    const results = await Promise.all(writers.map((writer, at) => writer.create('a', bytes(`writer ${at}`))));
    expect(results.filter((result) => result === 'created')).toHaveLength(1);
  });

  it('a write that meets another one is sent again, and counts neither as made nor as lost', async () => {
    failPuts(2, 409, 'ConditionalRequestConflict');
    expect(await objects.create('a', bytes('a'))).toBe('created');
    failPuts(99, 409, 'ConditionalRequestConflict');
    await expect(objects.create('b', bytes('b'))).rejects.toMatchObject({ code: 'server', retryable: true });
    meddle = () => false;
    expect(await read('b')).toBeUndefined();
  });

  it('a write whose response was lost exists, and reading it shows whose it is', async () => {
    let isLost = false;
    meddle = (incoming, outgoing, proceed) => {
      if (incoming.method !== 'PUT' || isLost) return false;
      isLost = true;
      outgoing.end = (() => outgoing.destroy()) as typeof outgoing.end;
      proceed();
      return true;
    };
    expect(await objects.create('a', bytes('mine'))).toBe('exists');
    expect(await read('a')).toBe('mine');
  });

  it('a store that refuses the condition is refused, without a look and a write instead', async () => {
    bucket.conditions = { status: 501, code: 'NotImplemented' };
    await expect(objects.create('a', bytes('a'))).rejects.toMatchObject({ code: 'config' });
    expect(requests).toEqual(['PUT']);
    expect(await read('a')).toBeUndefined();
  });

  it('other bytes after a confirmed write mean that somebody else has the name', async () => {
    bucket.conditions = 'ignored';
    let isReplaced = false;
    meddle = (incoming, _, proceed) => {
      if (incoming.method !== 'GET' || isReplaced) return false;
      isReplaced = true;
      void open()
        .then((other) => other.create('a', bytes('other')))
        .then(proceed);
      return true;
    };
    expect(await objects.create('a', bytes('mine'))).toBe('exists');
  });

  it('a confirmed object that is not visible yet is looked for again', async () => {
    let misses = 0;
    meddle = (incoming, outgoing) => {
      if (incoming.method !== 'GET' || misses === 2) return false;
      misses += 1;
      outgoing.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
      return true;
    };
    expect(await objects.create('a', bytes('a'))).toBe('created');
  });

  it('R15: an object or a list whose body breaks off is requested again', async () => {
    await objects.create('one/1', bytes('first'));
    breakBodies(4);
    expect(await read('one/1')).toBe('first');
    breakBodies(4);
    expect(await names('one/')).toEqual(['one/1']);
  });

  it('R22: an object or a list whose body always breaks off is a network error', async () => {
    breakBodies(Infinity);
    const failure = { code: 'network', retryable: true, message: expect.stringContaining('an incomplete response') };
    await expect(objects.read('one/1', 1_000)).rejects.toMatchObject(failure);
    await expect(names('one/')).rejects.toMatchObject(failure);
    expect(requests).toHaveLength(10);
  });

  it('a web page instead of an object is a bad response, and not an object of somebody else', async () => {
    meddle = (incoming, outgoing) => {
      if (incoming.method !== 'GET') return false;
      outgoing.setHeader('content-type', 'text/html').end('<html><title>Sign in</title></html>');
      return true;
    };
    const page = { code: 'bad_response', message: expect.stringContaining('a web page came instead of an object') };
    await expect(objects.create('one/1', bytes('first'))).rejects.toMatchObject(page);
    await expect(objects.read('one/1', 1_000)).rejects.toMatchObject(page);
  });

  it('a web page that says 404 does not say that an object is missing', async () => {
    await objects.create('one/1', bytes('first'));
    meddle = (incoming, outgoing) => {
      if (incoming.method !== 'GET') return false;
      outgoing.writeHead(404, { 'content-type': 'text/html' }).end('<html><title>Not here</title></html>');
      return true;
    };
    const message = expect.stringContaining('a proxy between this machine and the store refused the request');
    await expect(objects.read('one/1', 1_000)).rejects.toMatchObject({ code: 'bad_response', message });
  });

  it('a refused write has the words of the store, which may name a key and not the bucket', async () => {
    failPuts(9, 403, 'AccessDenied');
    const message = expect.stringMatching(/^this machine may only read the .+ in s3:.+ \(403 AccessDenied: no\)/);
    await expect(objects.create('one/1', bytes('first'))).rejects.toMatchObject({ code: 'config', message });
  });

  it('a larger object than expected is not read into memory', async () => {
    await objects.create('a', bytes('x'.repeat(2_000)));
    await expect(objects.read('a', 1_000)).rejects.toMatchObject({ code: 'checksum_mismatch' });
  });
});
