import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isSvcError } from '../../../src/base/errors.ts';
import { createTransport, type Transport } from '../../../src/client/http/transport.ts';
import { type ExporterOptions, type ExportEvent, OtlpExporter } from '../../../src/logs/otlp/exporter.ts';
import { type Collector, type CollectorReply, startCollector } from './collector.ts';

const LOGS = ['a', 'b', 'c', 'd', 'e'].map((message) => ({ message, created_at: '2026-01-31T09:00:00Z' }));
let collector: Collector;
let transport: Transport;
let events: ExportEvent[];
let slept: number[];

beforeEach(async () => {
  collector = await startCollector();
  transport = createTransport();
  [events, slept] = [[], []];
});
afterEach(async () => {
  await transport.close();
  await collector.close();
});

function exporter(more: Partial<ExporterOptions> = {}): OtlpExporter {
  let now = 1_000_000;
  return new OtlpExporter(new URL('/v1/logs', collector.url), {
    settings: { headers: { authorization: 'Bearer abc' }, resource: { 'service.name': 'svc' }, gzip: true },
    transport,
    clock: {
      now: () => now,
      sleep: async (ms, signal) => {
        signal?.throwIfAborted();
        slept.push(ms);
        now += ms;
      },
    },
    signal: new AbortController().signal,
    clean: (text) => text,
    random: () => 0.5,
    onEvent: (event) => void events.push(event),
    ...more,
  });
}

function first(replies: readonly CollectorReply[]): void {
  collector.reply = (_, index) => replies[index];
}

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('an exporter', () => {
  it('the exporter posts compressed JSON with the requested headers', async () => {
    await exporter().export(LOGS);
    const [got] = collector.taken;
    expect(got).toMatchObject({
      path: '/v1/logs',
      headers: {
        authorization: 'Bearer abc',
        'content-type': 'application/json',
        'content-encoding': 'gzip',
        'content-length': expect.stringMatching(/^\d+$/),
      },
      resource: { 'service.name': { stringValue: 'svc' } },
    });
    expect(collector.messages()).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it.each([429, 502, 503, 504])(
    'R17: the exporter waits even ten minutes where that is requested with %i, reports it once, and continues',
    async (status) => {
      const busy = { status, headers: { 'retry-after': '600' } };
      first([busy, busy, busy, busy, busy, busy, busy]);
      await exporter().export(LOGS);
      expect(collector.messages()).toHaveLength(5);
      expect(slept).toHaveLength(7);
      expect(Math.min(...slept)).toBeGreaterThanOrEqual(600_000);
      expect(events.map(({ kind }) => kind)).toEqual(['disconnected', 'reconnected']);
    },
  );

  it('R30: the exporter continues when an unreachable collector is back', async () => {
    const { port } = new URL(collector.url);
    await collector.close();
    const work = exporter({
      clock: {
        now: () => Date.now(),
        sleep: async () => {
          collector = await startCollector(Number(port));
        },
      },
    }).export(LOGS);
    await work;
    expect(collector.messages()).toHaveLength(5);
    expect(events).toMatchObject([{ kind: 'disconnected', reason: expect.stringContaining('refused') }, {}]);
  });

  it.each([
    [400, 'rejected', /rejected the entries \(400\): bad record/],
    [401, 'unauthorized', /did not accept the credentials/],
    [403, 'forbidden', /does not allow/],
    [404, 'not_found', /accepts no logs at this address/],
    [405, 'not_found', /accepts no logs at this address/],
    [415, 'rejected', /compressed JSON/],
    [307, 'bad_response', /redirects to http:\/\/elsewhere.example, and redirects are not followed/],
    [501, 'server', /failed \(501\)/],
  ] as const)('the exporter ends at once on %i with the code %s, and says what to do', async (status, code, words) => {
    collector.reply = () => ({
      status,
      body: '{"code":3,"message":"bad record"}',
      headers: { location: 'http://elsewhere.example/x?secret=1' },
    });
    const error = await failure(exporter().export(LOGS));
    expect(isSvcError(error, code) && [error.message, error.hint]).toEqual([
      expect.stringMatching(words),
      expect.stringMatching(/\.$/),
    ]);
    expect(collector.seen).toHaveLength(1);
  });

  it.each([500, 408])('the exporter tries a few times when the collector fails with %i, then ends', async (status) => {
    collector.reply = () => ({ status });
    expect(await failure(exporter().export(LOGS))).toMatchObject({ code: 'server', retryable: true });
    expect(collector.seen).toHaveLength(5);
  });

  it('the exporter does not accept a web page as a collector', async () => {
    collector.reply = () => ({ status: 200, body: '<html>', headers: { 'content-type': 'text/html' } });
    expect(isSvcError(await failure(exporter().check()), 'bad_response')).toBe(true);
  });

  it('the exporter sends halves of a request that is too large, down to single entries, each once and in order', async () => {
    collector.reply = ({ records }) => (records.length > 2 ? { status: 413 } : undefined);
    await exporter().export(LOGS);
    expect(collector.messages()).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(events).toEqual([]);
    collector.reply = () => ({ status: 413 });
    expect(isSvcError(await failure(exporter().export(LOGS)), 'rejected')).toBe(true);
  });

  it('R30: the exporter reports that the collector is back also when it then finds the request too large', async () => {
    collector.reply = ({ records }, index) =>
      index === 0 ? { status: 503 } : records.length > 2 ? { status: 413 } : undefined;
    await exporter().export(LOGS);
    expect(collector.messages()).toHaveLength(5);
    expect(events.map(({ kind }) => kind)).toEqual(['disconnected', 'reconnected']);
  });

  it('the exporter counts no rejected entries of the empty request before the first ones', async () => {
    first([{ status: 200, body: '{"partialSuccess":{"rejectedLogRecords":"1"}}' }]);
    await exporter().check();
    expect(events).toEqual([{ kind: 'partial success', logs: [], rejected: 0, message: '' }]);
  });

  it('the exporter reports permanently rejected entries, and does not send them again', async () => {
    const body = JSON.stringify({ partialSuccess: { rejectedLogRecords: '2', errorMessage: 'too old' } });
    first([{ status: 200, body }]);
    await exporter().export(LOGS);
    expect(events).toEqual([{ kind: 'partial success', logs: LOGS, rejected: 2, message: 'too old' }]);
    expect(collector.seen).toHaveLength(1);
  });

  it.each([429, 502, 503, 504])(
    'the exporter waits no longer than the given time on %i, and may be run again',
    async (status) => {
      collector.reply = () => ({ status });
      const error = await failure(exporter({ timeUp: AbortSignal.abort() }).export(LOGS));
      expect(error).toMatchObject({ code: 'server', retryable: true });
      expect(collector.seen).toHaveLength(1);
    },
  );

  it('the exporter ends with the reason of its signal', async () => {
    const ended = new AbortController();
    collector.reply = () => {
      ended.abort(new Error('Ctrl-C'));
      return { status: 503 };
    };
    expect(await failure(exporter({ signal: ended.signal }).export(LOGS))).toEqual(new Error('Ctrl-C'));
  });
});
