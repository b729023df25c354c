import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkBody } from '../../src/3ds/check-body.ts';
import { BODY, fieldAt, fieldsBelow } from '../../src/schema/three-ds/fields.ts';
import { changed, fullBody } from './bodies.ts';

const RUNS = process.env['SOAK'] === '1' ? 20_000 : 500;
const paths = fc.constantFrom(...fieldsBelow(BODY).map(({ path }) => path), 'x', 'purchase_info.x');
const sessions = fc.constantFrom('customer' as const, 'merchant' as const, undefined);
const secret = 'Zebulon-Quist-70';

/** JSON values, some of which contain a secret that no violation may repeat. */
const values = fc.oneof(
  fc.jsonValue({ depthSize: 'small' }),
  fc.constant(secret),
  fc.constant({ name: secret, [secret]: [secret] }),
  fc.constant([secret, { critical: secret }]),
);

describe('any body', () => {
  it('R57: any body is checked without a crash, telling nothing of it and only paths that could be mended', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(paths, values), { maxLength: 6 }), sessions, (changes, session) => {
        let body: unknown = fullBody();
        for (const [path, value] of changes) {
          try {
            body = changed(body, path, value);
          } catch {
            // The path leads through an earlier value that is not an object.
          }
        }
        const violations = checkBody(body, session);
        expect(
          JSON.stringify(violations.map(({ rule, example, suggestion }) => [rule, example, suggestion])),
        ).not.toContain(secret);
        for (const { path, rule } of violations) {
          expect(rule).toMatch(/^(is|must|goes|looks) /);
          expect(rule.startsWith('must ') || rule.startsWith('is needed') ? fieldAt(path) : BODY, path).toBeDefined();
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('R57: any body of any JSON value is never taken for a right one by chance', () => {
    fc.assert(
      fc.property(fc.jsonValue(), sessions, (value, session) => {
        expect(checkBody(value, session)).not.toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });
});
