import { describe, expect, it } from 'vitest';
import { type AddressSource, requireStoreAddress } from '../../../src/client/transfer/address.ts';
import { failure } from './support.ts';

describe('a store address', () => {
  it.each(['https://store.example/a?sig=x', 'http://127.0.0.1:1/a', 'http://localhost/a', 'http://[::1]:2/a'])(
    'R04: a store address of a service on this machine may be %s',
    (text) => {
      expect(requireStoreAddress(text, 'j1', service('http://127.0.0.1:9/')).href).toBe(text);
    },
  );

  it.each([
    'http://store.example/a?sig=SECRET',
    'ftp://store.example/SECRET',
    'SECRET',
    '',
    '//x/SECRET',
    'file:///SECRET',
  ])('R04 and R06: a store address may not be %s, and is not shown', async (text) => {
    const source = service('http://127.0.0.1:9/');
    const error = await failure(Promise.resolve().then(() => requireStoreAddress(text, 'j1', source)));
    expect(error.code).toBe('bad_response');
    expect(`${error.message} ${error.hint}`).not.toContain('SECRET');
  });

  it.each(['https://127.0.0.1:1/a?SECRET', 'http://localhost/SECRET', 'https://[::1]/SECRET'])(
    'R04: a store address of a service elsewhere may not be on this machine: %s',
    async (text) => {
      const source = service('https://api.example/');
      const error = await failure(Promise.resolve().then(() => requireStoreAddress(text, 'j1', source)));
      expect(error.code).toBe('bad_response');
      expect(error.message).toContain('is on this machine, and the service is not');
      expect(`${error.message} ${error.hint}`).not.toContain('SECRET');
    },
  );

  it('R07: a store address makes secrets of all that its query holds, as it is and decoded; the job in it stays readable', () => {
    const source = service('https://api.example/');
    requireStoreAddress('https://store.example/a?sig=a%2Fb%3D&job=j1&t=%zz#x=y', 'j1', source);
    expect(source.secrets).toEqual(['a%2Fb%3D', 'a/b=', '%zz', '%zz']);
  });

  it('R07: a store address leaves readable only dates, words and names of files, in members that are known for them', () => {
    const source = service('https://api.example/');
    const azure =
      'sv=2024-11-04&st=2026-11-30T12%3A00%3A00Z&se=2026-11-30T13%3A00%3A00.123Z&sr=b&sp=cw&ske=2026-12-01T13%3A00%3A00Z';
    const plain = `op=download&file=results-2026-11.csv&x-id=GetObject&X-Amz-Date=20261130T120000Z&${azure}`;
    const secret = '%73ig=abcdefg&t%6Fken=abcdefgh&h=deadbeefcafe&ticket=hunterpass&p=2026-11-30&op=Abcdefgh';
    requireStoreAddress(`https://store.example/a?${plain}&${secret}`, 'j1', source);
    const hidden = ['abcdefg', 'abcdefgh', 'deadbeefcafe', 'hunterpass', '2026-11-30', 'Abcdefgh'];
    expect([...new Set(source.secrets)]).toEqual(hidden);
  });
});

function service(baseUrl: string): AddressSource & { secrets: string[] } {
  const secrets: string[] = [];
  return { baseUrl: new URL(baseUrl), addSecret: (value) => void secrets.push(value), secrets };
}
