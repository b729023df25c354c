import * as fc from 'fast-check';

/** Pieces that parsers stumble over. */
const PIECES = [
  '\uFEFF',
  '\0',
  '\r',
  '\r\n',
  '\n\n',
  '"',
  '""',
  ',',
  ';',
  '\t',
  '\u2028',
  '\u202e',
  '\u001b[31m',
  '{',
  '}',
  '[',
  ']',
  'null',
  'true',
  '1e999',
  '-0',
  '9007199254740993',
  '"__proto__":',
  '"constructor":',
  '\\u0000',
  '\\ud800',
  '😀',
  '=1+1',
  '4242424242424242',
  ' '.repeat(300),
  '9'.repeat(400),
  '['.repeat(300),
].map((piece) => Buffer.from(piece));

const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

/** One change of bytes. Places are shares of the length, so that a change applies to every text. */
const change = fc.oneof(
  fc.record({ what: fc.constant('insert' as const), at: place, piece: fc.constantFrom(...PIECES) }),
  fc.record({ what: fc.constant('replace' as const), at: place, piece: fc.uint8Array({ minLength: 1, maxLength: 3 }) }),
  fc.record({ what: fc.constant('delete' as const), at: place, length: fc.integer({ min: 1, max: 60 }) }),
  fc.record({ what: fc.constant('repeat' as const), at: place, length: fc.integer({ min: 1, max: 200 }) }),
  fc.record({ what: fc.constant('cut' as const), at: place }),
);

/** A few changes, to be applied one after the other. */
export const changes = fc.array(change, { minLength: 1, maxLength: 4 });

/** Returns `bytes` with the changes applied. */
export function mutate(
  bytes: Uint8Array,
  list: readonly (typeof change extends fc.Arbitrary<infer C> ? C : never)[],
): Buffer {
  return list.reduce((text: Buffer, one) => {
    const at = Math.floor(one.at * text.length);
    const before = text.subarray(0, at);
    const after = text.subarray(at);
    switch (one.what) {
      case 'insert':
        return Buffer.concat([before, one.piece, after]);
      case 'replace':
        return Buffer.concat([before, one.piece, after.subarray(one.piece.length)]);
      case 'delete':
        return Buffer.concat([before, after.subarray(one.length)]);
      case 'repeat':
        return Buffer.concat([before, after.subarray(0, one.length), after]);
      case 'cut':
        return before;
    }
  }, Buffer.from(bytes));
}
