import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSamePath, keyTypeOf, queryOf, readEndpointPath } from '../../../src/client/api/endpoint-path.ts';
import { buildUrl } from '../../../src/client/http/request.ts';
import { cases } from '../../support/cases.ts';
import { anyCharacter } from '../../support/any-character.ts';

const BASE = new URL('https://vault.example/v1/');

describe('a typed path', () => {
  it.each(['/logs', '/a/b-c_d~e', '/tokens/a%20b', '/tokens/%C3%A9', '/tokens/é', '/x/a..b/...', '/a:b/c@d'])(
    'the typed path %s is accepted',
    (typed) => {
      expect(readEndpointPath(typed).path).toBe(typed);
    },
  );

  it.each([
    ['a full address', 'https://elsewhere.example/logs'],
    ['another scheme', 'javascript:alert(1)'],
    ['an address without a scheme', '//elsewhere.example/logs'],
    ['no slash at the beginning', 'logs'],
    ['nothing', ''],
    ['a fragment', '/logs#top'],
    ['a backslash', '/logs\\..\\tenants'],
    ['a backslash for the second slash', '/\\elsewhere.example'],
    ['a space', '/logs /x'],
    ['a line break', '/logs\r\nx: y'],
    ['NUL', '/logs\0'],
    ['an invisible character', '/lo\u200bgs'],
    ['dots', '/logs/../tenants/self'],
    ['one dot', '/./logs'],
    ['dots at the end', '/logs/..'],
    ['encoded dots', '/logs/%2e%2E/tenants'],
    ['half-encoded dots', '/logs/.%2e/tenants'],
    ['dots behind an encoded slash', '/logs/x%2f..%2f..%2ftenants'],
    ['dots behind an encoded backslash', '/logs/x%5C..%5Ctenants'],
    ['an encoded line break', '/logs/%0d%0ax'],
    ['a broken encoding', '/logs/%zz'],
    ['a cut encoding', '/logs/%e2%82'],
  ])('a typed path with %s is refused, and not repeated', (_, typed) => {
    expect(() => readEndpointPath(typed)).toThrowError(expect.objectContaining({ code: 'usage' }));
  });

  it('R01: a typed path leads below the base URL or nowhere, whatever is typed', () => {
    const piece = fc.constantFrom(
      '/',
      '.',
      '..',
      '%2e',
      '%2F',
      '\\',
      '//',
      '@',
      ':',
      'a',
      'é',
      '?',
      '#',
      '%',
      ' ',
      'x.example',
      'https:',
      ';',
    );
    const typed = fc.oneof(
      fc.array(piece, { maxLength: 8 }).map((parts) => parts.join('')),
      fc.string({ unit: anyCharacter }),
    );
    let taken = 0;
    fc.assert(
      fc.property(fc.tuple(fc.boolean(), typed), ([slash, rest]) => {
        let read;
        try {
          read = readEndpointPath(slash ? `/${rest}` : rest);
        } catch {
          return;
        }
        taken += 1;
        const url = buildUrl(BASE, read.path, queryOf(read.query));
        expect(url.origin).toBe('https://vault.example');
        expect(url.username + url.password + url.hash).toBe('');
        expect(url.pathname.startsWith('/v1/')).toBe(true);
        expect(url.pathname.split('/').length).toBe(read.path.split('/').length + 1);
      }),
      { numRuns: cases(10_000) },
    );
    expect(taken).toBeGreaterThan(10);
  });

  it('a typed path keeps what follows the question mark as a query', () => {
    const { path, query } = readEndpointPath('/logs?size=5&start=a%2Bb%3D%3D&x=1&x=2&y=?');
    expect(path).toBe('/logs');
    expect(queryOf(query)).toEqual({ size: '5', start: 'a+b==', x: ['1', '2'], y: '?' });
    expect(buildUrl(BASE, path, queryOf(query)).search).toBe('?size=5&start=a%2Bb%3D%3D&x=1&x=2&y=%3F');
  });

  it.each([
    ['/logs', 'management'],
    ['/logs/entity-types', 'management'],
    ['/tenants/self', 'management'],
    ['/applications', 'management'],
    ['/3ds/sessions', 'private'],
    ['/account-updater/jobs/1', 'private'],
    ['/account%2Dupdater/jobs', 'private'],
    ['/logsx', undefined],
    ['/tokens', 'private'],
    ['/toString', undefined],
    ['/', undefined],
  ])('R09: the key of %s is %s', (path, kind) => {
    expect(keyTypeOf(path)).toBe(kind);
  });

  it('a typed path is the same endpoint in every encoding', () => {
    for (const path of [
      '/tenants/self',
      '/tenants/self/',
      '/tenants//self',
      '/tenants/%73elf',
      '/Tenants/SELF',
      '/tenants%2fself',
    ])
      expect(isSamePath(path, '/tenants/self')).toBe(true);
    expect(isSamePath('/tenants/self/reports/usage', '/tenants/self')).toBe(false);
  });
});
