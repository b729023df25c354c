import { describe, expect, it } from 'vitest';
import { type Effect, isPage, type Origin, originOf, type Share, tookEffect } from '../../../src/client/http/effect.ts';

const READS = ['GET', 'HEAD'];
const CHANGES = ['POST', 'PUT', 'PATCH', 'DELETE'];
const ORIGINS: readonly Origin[] = ['service', 'store', 'between'];
const SHARES: readonly Share[] = ['none', 'some', 'all'];
const STATUSES = Array.from({ length: 400 }, (_, at) => 200 + at);

/** What is known after all of a changing request was sent, by status: from its server, and from something between. */
const TABLE: readonly (readonly [statuses: string, fromServer: Effect, fromBetween: Effect])[] = [
  ['200 201 203 204', 'yes', 'unknown'],
  ['202 205 206 207 226', 'unknown', 'unknown'],
  ['301 302 307 308', 'no', 'no'],
  ['300 303 304 305', 'unknown', 'unknown'],
  ['400 401 402 403 404 405 406 407 410 411 413 414 415 421 422 425 428 429 431 451', 'no', 'no'],
  ['408', 'unknown', 'unknown'],
  ['500 501 502 503 504 505 507 511 520 522 599', 'unknown', 'unknown'],
];

function effect(method: string, share: Share, origin?: Origin, status = 0): Effect {
  return tookEffect({ method, share, response: origin === undefined ? undefined : { status, origin } });
}

describe('whether a request took effect', () => {
  it.each(TABLE)(
    'R94: whether a change took effect stands on %s: %s, and %s from between',
    (statuses, own, between) => {
      for (const method of CHANGES)
        for (const status of statuses.split(' ').map(Number)) {
          const known = ORIGINS.map((origin) => effect(method, 'all', origin, status));
          expect(known, `${method} ${status}`).toEqual([own, own, between]);
        }
    },
  );

  it('R94: a 409 or 412 to a PUT may be about the copy that a proxy sent before, unless the service says it', () => {
    const [service, ...others] = ORIGINS;
    for (const status of [409, 412]) {
      expect(others.map((origin) => effect('PUT', 'all', origin, status))).toEqual(['unknown', 'unknown']);
      expect(effect('PUT', 'all', service, status)).toBe('no');
      for (const method of ['POST', 'PATCH', 'DELETE'])
        expect(ORIGINS.map((origin) => effect(method, 'all', origin, status))).toEqual(['no', 'no', 'no']);
    }
  });

  it('R94: a change took effect or not, nobody knows, when all of it was sent and no response came', () => {
    for (const method of CHANGES) expect(SHARES.map((share) => effect(method, share))).toEqual(['no', 'no', 'unknown']);
  });

  it('R94: an incomplete request and a read take no effect, whatever comes back', () => {
    for (const status of STATUSES)
      for (const origin of ORIGINS) {
        for (const method of CHANGES)
          for (const share of ['none', 'some'] as const)
            expect(effect(method, share, origin, status), `${method} ${share} ${status}`).toBe('no');
        for (const method of READS)
          for (const share of SHARES) expect(effect(method, share, origin, status)).toBe('no');
      }
  });

  it('R94: nothing between the client and a server confirms a change', () => {
    for (const status of STATUSES)
      for (const method of CHANGES) expect(effect(method, 'all', 'between', status)).not.toBe('yes');
  });
});

describe('the origin of a response', () => {
  const PAGE = '<!DOCTYPE html><html><title>Sign in</title></html>';
  it.each([
    ['a web page', 'text/html; charset=utf-8', PAGE, true],
    ['a web page of another type', 'application/xhtml+xml', PAGE, true],
    ['a web page without a type', undefined, `\n  ${PAGE}`, true],
    ['a web page that begins with its root', undefined, '<HTML lang="en">', true],
    ['an empty body of that type', 'text/html', '', false],
    ['an XML document', 'application/xml', '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', false],
    ['JSON that mentions a page', 'application/json', '{"title":"<html>"}', false],
  ])('R94: the origin of a response with %s is seen', (_, type, text, expected) => {
    const response = { header: (name: string) => (name === 'content-type' ? type : undefined), text };
    expect(isPage(response)).toBe(expected);
    expect(originOf('store', response)).toBe(expected ? 'between' : 'store');
    expect(originOf('service', response)).toBe(expected ? 'between' : 'service');
  });

  it('R94: a web page that breaks off before its first byte is from between', () => {
    expect(isPage({ header: () => 'text/html', text: '', isCut: true })).toBe(true);
  });
});
