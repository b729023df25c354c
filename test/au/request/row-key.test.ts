import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSameToken, rowKey, tokenKey } from '../../../src/au/request/row-key.ts';

describe('the key of a row', () => {
  it('the key of a row has its UUID in lower case, and any other token and the merchant as they are', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.string(), (uuid, text) => {
        expect(tokenKey(uuid.toUpperCase())).toBe(uuid.toLowerCase());
        expect(tokenKey(`${uuid.toUpperCase()}X`)).toBe(`${uuid.toUpperCase()}X`);
        expect(rowKey(uuid.toUpperCase(), text)).toBe(`${uuid.toLowerCase()}\0${text}`);
        expect(isSameToken(uuid.toUpperCase(), uuid)).toBe(true);
      }),
    );
  });

  it('tokens that are no UUID differ by the case of their letters', () => {
    expect(isSameToken('tok_A', 'tok_a')).toBe(false);
  });
});
