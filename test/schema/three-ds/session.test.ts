import { describe, expect, it } from 'vitest';
import {
  authenticationResultSchema,
  challengeResultSchema,
  type CreateSession,
  threeDsSessionSchema,
} from '../../../src/schema/three-ds/session.ts';

describe('answers about 3DS', () => {
  it('R23: responses about 3DS need little, and keep what is new', () => {
    for (const session of [
      { id: 's' },
      { id: 's', type: 'robot', device_info: {}, authentication: {}, version: {}, method: {} },
      { id: 's', device_info: null, authentication: null, version: null, method: null, later: { a: 1 } },
      { id: 's', device_info: { browser_ip: '::1', sdk_ephemeral_public_key: { kty: 'EC' } } },
      { id: 's', authentication: { authentication_status: 'brand-new', authentication_status_reason: 'why' } },
    ])
      expect(threeDsSessionSchema.parse(session)).toEqual(session);
  });

  it('R23: responses about 3DS take message extensions with data of any kind, and attempts as text or number', () => {
    for (const data of ['x', { a: 1 }, [1], null, undefined])
      for (const challenge_attempts of ['2', 2, null]) {
        const result = { authentication_status: 'failed', message_extensions: [{ id: '1', data }], challenge_attempts };
        expect(challengeResultSchema.parse(result)).toEqual(result);
      }
  });

  it('R23: responses about 3DS are refused only without what everything hangs on', () => {
    expect(threeDsSessionSchema.safeParse({ type: 'customer' }).success).toBe(false);
    expect(authenticationResultSchema.safeParse({ eci: '05' }).success).toBe(false);
  });
});

it('a new 3DS session compiles with one of the names of its card, and not without any', () => {
  const named: readonly CreateSession[] = [
    { type: 'customer', token_id: 't' },
    { type: 'merchant', token_intent_id: 'i' },
    { type: 'customer', pan: 'p' },
    // @ts-expect-error The check of types fails where this compiles.
    { type: 'customer' },
  ];
  expect(named.map((session) => Object.keys(session).length)).toEqual([2, 2, 2, 1]);
});
