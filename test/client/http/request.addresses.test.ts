import { describe, expect, it } from 'vitest';
import { buildUrl, path } from '../../../src/client/http/request.ts';
import { displayHost, isSafeAddress, readAddress } from '../../../src/schema/address.ts';
import { json } from '../../support/fault-steps.ts';
import { makeCore, READ } from './support/core.ts';
import { serve } from '../../support/fault-server.ts';

describe('an address', () => {
  it.each([
    ['https://api.example.com', true],
    ['https://127.0.0.1:8443', true],
    ['http://127.0.0.1:8080', true],
    ['http://127.255.3.4', true],
    ['http://localhost:1', true],
    ['http://LOCALHOST', true],
    ['http://[::1]:9', true],
    ['http://0x7f000001/', true],
    ['http://evil.localhost', false],
    ['http://localhost.', false],
    ['http://[::ffff:127.0.0.1]', false],
    ['http://api.example.com', false],
    ['http://127.0.0.1.example.com', false],
    ['http://localhost.example.com', false],
    ['http://127.0.0.1@example.com', false],
    ['http://notlocalhost', false],
    ['http://128.0.0.1', false],
    ['http://[::2]', false],
    ['http://0.0.0.0', false],
    ['http://10.0.0.1', false],
    ['ftp://localhost', false],
    ['file:///etc/passwd', false],
    ['ws://localhost', false],
  ])('R04: an address may be spoken to only over https, or on this machine: %s is %s', (text, safe) => {
    expect(isSafeAddress(new URL(text))).toBe(safe);
  });

  it('R06: an address is shown as scheme, host and port only, and nonsense not at all', () => {
    expect(displayHost(new URL('https://user:pass@api.test:8443/path?sig=x#y'))).toBe('https://api.test:8443');
    expect(readAddress('https://[nonsense?sig=x')).toBeUndefined();
  });
});

describe('the address of a request', () => {
  it('R26: the address of a request carries every part and cursor byte for byte, and stays below its base', async () => {
    const server = await serve([json({})]);
    const odd = 'a/b?c#d%2e%2e e+f&g=h;i"<>\\^`{|}~ü🙂';
    await makeCore(new URL('v1/', server.url)).call({
      ...READ,
      path: path`/things/${odd}/x`,
      query: { start: odd, size: 7, none: undefined },
    });
    const sent = new URL(server.ledger[0]?.path ?? '', server.url);
    expect(sent.pathname.split('/').map(decodeURIComponent)).toEqual(['', 'v1', 'things', odd, 'x']);
    expect(Array.from(sent.searchParams)).toEqual([
      ['start', odd],
      ['size', '7'],
    ]);
  });

  it.each(['', '.', '..'])('R04: the address of a request refuses an id that would name another endpoint: %j', (id) => {
    expect(() => path`/things/${id}`).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  it('the address of a request keeps the path of its base, with or without a slash at its end', () => {
    for (const base of ['https://api.test/v1', 'https://api.test/v1/', 'https://api.test/v1//'])
      expect(buildUrl(new URL(base), '/logs').href).toBe('https://api.test/v1/logs');
    expect(buildUrl(new URL('https://api.test'), '/logs').href).toBe('https://api.test/logs');
  });
});
