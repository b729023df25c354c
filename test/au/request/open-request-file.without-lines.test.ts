import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { withoutLines } from '../../../src/au/request/open-request-file.ts';
import { inChunks, stream } from '../rows.ts';
import { cases } from '../../support/cases.ts';

it('a file without some of its lines has the bytes of all others, however it is cut into pieces', async () => {
  const line = fc.string({ maxLength: 6 }).map((text) => text.replaceAll('\n', '\r'));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(line, fc.boolean()), { minLength: 1, maxLength: 12 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 9 }),
      async (lines, endsWithFeed, size) => {
        const texts = lines.map(([text], at) => (at === lines.length - 1 && !endsWithFeed ? text : `${text}\n`));
        const left = lines.flatMap(([, isLeft], at) => (isLeft ? [at + 1] : []));
        const pieces: Uint8Array[] = [];
        for await (const piece of withoutLines(stream(inChunks(Buffer.from(texts.join('')), size)), left))
          pieces.push(Uint8Array.from(piece));
        const expected = texts.filter((_, at) => !left.includes(at + 1)).join('');
        expect(Buffer.concat(pieces).toString()).toBe(expected);
      },
    ),
    { numRuns: cases(3_000) },
  );
});
