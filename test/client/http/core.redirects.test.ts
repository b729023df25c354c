import { describe, expect, it } from 'vitest';
import { answer, json } from '../../support/fault-steps.ts';
import { CREATE, failureOf, makeCore, READ } from './support/core.ts';
import { serve } from '../../support/fault-server.ts';

const STATUSES = [300, 301, 302, 303, 304, 305, 307, 308];

describe('redirects', () => {
  it.each(STATUSES)('R01: a %i to another port is an error, and the other server hears nothing', async (status) => {
    const other = await serve([json({})]);
    const location = `${other.url.href}logs?secret=hidden`;
    const server = await serve([answer(status, '', { location })]);
    const core = makeCore(server.url);
    for (const request of [READ, CREATE]) {
      const error = await failureOf(core.call(request));
      // A 303 is the response to a request that was processed, and the others have no meaning for a change.
      const isUnclear = request === CREATE && [300, 303, 304, 305].includes(status);
      expect(error).toMatchObject({ exitCode: isUnclear ? 9 : 8, status });
      expect(error.message).toContain(`http://127.0.0.1:${other.port}`);
      expect(error.message).not.toContain('hidden');
    }
    expect(server.ledger).toHaveLength(2);
    expect(other.connections).toBe(0);
  });

  it.each([
    ['another scheme', 'https://127.0.0.1/logs', 'https://127.0.0.1 '],
    ['another host', 'https://user:pass@elsewhere.example/logs?sig=hidden#top', 'https://elsewhere.example '],
    ['a path of the same host', '/hidden', 'http://127.0.0.1:'],
    ['a scheme-relative place', '//elsewhere.example/hidden', 'http://elsewhere.example '],
    ['a script', 'javascript:hidden()', 'javascript:'],
    ['nonsense', 'http://[hidden', 'an unnamed address'],
    ['nothing', '', 'http://127.0.0.1:'],
  ])('R01: a redirect to %s names the host only', async (_, location, shown) => {
    const server = await serve([answer(302, 'moved', { location })]);
    const error = await failureOf(makeCore(server.url).call(READ));
    expect(error.message).toContain(shown);
    expect(error.message).not.toMatch(/hidden|pass|user/);
    expect(server.ledger).toHaveLength(1);
  });

  it('R01: a redirect without a target is an error too', async () => {
    const server = await serve([answer(307)]);
    const error = await failureOf(makeCore(server.url).call(READ));
    expect(error.message).toContain('an unnamed address (307)');
  });
});
