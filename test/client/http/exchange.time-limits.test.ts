import { describe, expect, it } from 'vitest';
import { createTransport } from '../../../src/client/http/transport.ts';
import { blackHole } from '../../support/black-hole.ts';
import { head, json, silence, trickle } from '../../support/fault-steps.ts';
import { failureOf, makeCore, only, READ, timed } from './support/core.ts';
import { serve } from '../../support/fault-server.ts';

// The client sends a POST only once when it may have arrived, so the test measures a single wait.
const ONCE = { ...READ, method: 'POST' } as const;

describe('time limits', () => {
  it.each([
    ['before it reads', silence('connection'), 'headers'],
    ['before the headers', silence('request'), 'headers'],
    ['after the headers', silence('headers'), 'idle'],
    ['amid the body', silence('body'), 'idle'],
    ['dripping its headers', trickle('HTTP/1.1 200 OK\r\nx: ', 50, 'y'), 'headers'],
    ['dripping interim answers', trickle('', 50, head(103)), 'headers'],
    ['dripping its body', trickle(head(200, { 'content-length': '9999' }), 50, ' '), 'body'],
  ] as const)('R14: a server silent %s is given up within its limit', async (_, step, limit) => {
    const server = await serve([step]);
    const { result, ms } = await timed(() => failureOf(makeCore(server.url, { limits: only(limit) }).call(ONCE)));
    expect(result.code).toBe('outcome_unknown');
    expect(result.message).toMatch(/within 0\.1 s/);
    expect(ms).toBeGreaterThan(90);
    expect(server.ledger.length).toBeLessThanOrEqual(1);
  });

  it('R14: a read from a silent server is tried five times and ends as a network failure', async () => {
    const server = await serve([silence('request')]);
    const error = await failureOf(makeCore(server.url, { limits: only('headers') }).call(READ));
    expect(error).toMatchObject({ code: 'network', exitCode: 8, retryable: true });
    expect(error.message).toBe(`no response from http://127.0.0.1:${server.port}: it stayed silent within 0.1 s`);
    await expect.poll(() => server.ledger).toHaveLength(5);
  });

  it('R14: a host that never completes the connection is given up within the limit', async () => {
    const hole = await blackHole();
    const core = makeCore(hole.url, { limits: only('connect') });
    const { result, ms } = await timed(() => failureOf(core.call(ONCE)));
    await hole.close();
    expect(result).toMatchObject({ code: 'network', exitCode: 8 });
    expect(result.message).toContain('no connection was made within 0.1 s');
    // Nothing was sent, so the client made all five attempts.
    expect(ms).toBeGreaterThan(480);
  });

  it('R14: a server that accepts and never speaks TLS is given up within the limit', async () => {
    const server = await serve([silence('connection')]);
    const url = new URL(`https://127.0.0.1:${server.port}/`);
    const result = await failureOf(makeCore(url, { limits: only('connect') }).call(ONCE));
    expect(result.message).toContain('no connection was made within 0.1 s');
  });

  it('R14: an error answer whose body never ends is still that error', async () => {
    const server = await serve([silence('body', 403)]);
    const result = await failureOf(makeCore(server.url, { limits: only('idle') }).call(READ));
    expect(result).toMatchObject({ code: 'forbidden', status: 403 });
    expect(server.ledger).toHaveLength(1);
  });

  it('R14: no connection is left behind by an answer that was given up', async () => {
    const server = await serve([silence('body', 403), json({})]);
    const transport = createTransport();
    await failureOf(makeCore(server.url, { transport, limits: only('idle') }).call(READ));
    await makeCore(server.url, { transport }).call(READ);
    expect(server.connections).toBe(2);
    await expect.poll(() => server.openConnections).toBe(1);
  });
});
