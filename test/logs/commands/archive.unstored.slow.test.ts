import { beforeEach, describe, expect, it } from 'vitest';
import type { ServerResponse } from 'node:http';
import { type BucketHook, BucketServer } from '../../support/bucket-server.ts';
import { errorIn, type HereResult, svcHere } from '../../support/run-here.ts';
import { systemClock } from '../../../src/base/system.ts';
import type { Clock } from '../../../src/base/system.ts';
import { logAgo, type LogServer, startLogServer } from './log-server.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const PLACE = 's3://logs/audit';
/** A clock of this machine on which pauses take no time. */
const CLOCK: Clock = { now: () => systemClock.now(), sleep: async (_, signal) => signal?.throwIfAborted() };
const ERROR =
  '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>InternalError</Code><Message>Try again.</Message></Error>';
let server: LogServer;
let bucket: BucketServer;
let home: string;

beforeEach(async () => {
  server = await startLogServer();
  bucket = await BucketServer.start();
  home = temporaryDirectory();
  for (let age = 1; age <= 5; age += 1) server.logs.push(logAgo(age * 60_000, `entry ${age}`, { tenant_id: 't-1' }));
});

function svc(...argv: string[]): Promise<HereResult> {
  return svcHere(['logs', ...argv, '-o', 'json'], {
    baseUrl: new URL(server.url),
    env: bucket.environment,
    clock: CLOCK,
    home,
  });
}

/** Responds to writes of segments, as often as there are responses; later ones reach the store. */
function segmentWrites(...responses: readonly ((outgoing: ServerResponse) => void)[]): BucketHook {
  const left = [...responses];
  return (incoming, outgoing, proceed) => {
    const isSegment = incoming.method === 'PUT' && /\/part-.*\.gz(?!\.idx)/.test(incoming.url ?? '');
    const response = isSegment ? left.shift() : undefined;
    if (response === undefined) return proceed();
    incoming.resume().on('end', () => response(outgoing));
  };
}

const failed = (outgoing: ServerResponse): void =>
  void outgoing.writeHead(200, { 'content-type': 'application/xml' }).end(ERROR);
const confirmed = (outgoing: ServerResponse): void => void outgoing.writeHead(200).end();

function records(): number {
  return bucket.keys().filter((key) => /_manifest\/\d+\.json$/.test(key)).length;
}

describe('svc logs archive in a bucket that confirms what it does not store', () => {
  it('R94: svc logs archive writes a segment again after a 200 that contains InternalError', async () => {
    bucket.hook = segmentWrites(failed, failed);
    expect(await svc('archive', PLACE)).toMatchObject({ code: 0 });
    expect(await svc('verify', PLACE, '--strict')).toMatchObject({ code: 0 });
  });

  it('R94: svc logs archive commits no record for a segment that the store never has, and the next run archives it', async () => {
    bucket.hook = segmentWrites(...Array.from({ length: 5 }, () => failed));
    const refused = await svc('archive', PLACE);
    expect([refused.code, errorIn(refused)['message']]).toEqual([8, expect.stringContaining('200 InternalError')]);
    bucket.hook = segmentWrites(confirmed);
    const unseen = await svc('archive', PLACE);
    expect([unseen.code, errorIn(unseen)['message']]).toEqual([
      8,
      expect.stringContaining('the store confirmed tenant=t-1/'),
    ]);
    expect(records()).toBe(1);
    bucket.hook = (_, __, proceed) => proceed();
    expect(await svc('archive', PLACE)).toMatchObject({ code: 0 });
    expect(await svc('verify', PLACE, '--strict')).toMatchObject({ code: 0 });
  });

  it('R94: svc logs archive warns once that it cannot look, where credentials may only write', async () => {
    bucket.hook = ({ method, url = '' }, outgoing, proceed) => {
      if (method === 'HEAD' && /\/(?:part-|_index\/)/.test(url)) outgoing.writeHead(403).end();
      else proceed();
    };
    const { code, stderr } = await svc('archive', PLACE);
    expect([code, stderr.match(/may not read what they wrote/g)]).toEqual([0, expect.any(Array)]);
    expect(stderr.match(/may not read what they wrote/g)).toHaveLength(1);
  });

  it('R94: svc logs archive writes a confirmed segment that is missing again, with the recorded bytes', async () => {
    expect((await svc('archive', PLACE)).code).toBe(0);
    server.logs.push(logAgo(1_000, 'later', { tenant_id: 't-1' }));
    expect((await svc('archive', PLACE)).code).toBe(0);
    const removed = bucket.keys().find((key) => key.endsWith('.gz')) ?? '';
    bucket.remove(removed);
    expect((await svc('verify', PLACE)).code).toBe(12);
    const healed = await svc('archive', PLACE);
    expect([healed.code, healed.stderr]).toEqual([
      0,
      expect.stringContaining('read from the service again: tenant=t-1/'),
    ]);
    expect(bucket.keys()).toContain(removed);
    expect(await svc('verify', PLACE, '--strict')).toMatchObject({ code: 0 });
  });

  it('R76: svc logs archive still reports a missing segment whose entries the service no longer has', async () => {
    expect((await svc('archive', PLACE)).code).toBe(0);
    bucket.remove(bucket.keys().find((key) => key.endsWith('.gz')) ?? '');
    server.logs.splice(0, 2);
    const { code, stdout } = await svc('archive', PLACE);
    expect([code, JSON.parse(stdout)]).toEqual([12, expect.objectContaining({ missing_files: 1 })]);
  });
});
