import { assert, boolean, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeStoreError, readStoreError } from '../../../src/client/transfer/store-response.ts';
import { anyCharacter } from '../../support/any-character.ts';

const none = (): undefined => undefined;

describe("a store's error body", () => {
  it("R21: a store's error body never throws and stays short, whatever the body", () => {
    assert(
      property(string({ maxLength: 5_000, unit: anyCharacter }), boolean(), (text, isWrapped) => {
        const words = describeStoreError(500, readStoreError(isWrapped ? `<Message>${text}</Message>` : text, none));
        expect(words.length).toBeLessThan(300);
        expect(words).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      }),
    );
  });
});
