import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkBody } from '../../src/3ds/check-body.ts';
import { NEEDS } from '../../src/3ds/rules.ts';
import { checkAuthenticate } from '../../src/emulator/three-ds/authenticate.ts';
import { SESSION_TYPES_BY_AUTHENTICATION_TYPE } from '../../src/schema/three-ds/values.ts';
import { changed, fullBody } from './bodies.ts';

const types = fc.constantFrom(...Object.keys(SESSION_TYPES_BY_AUTHENTICATION_TYPE));
const left = fc.subarray(NEEDS.map(({ path }) => path).concat('requestor_info', 'cardholder_info.email'), {
  maxLength: 3,
});

function sandboxTakes(body: unknown, session: 'customer' | 'merchant'): boolean {
  try {
    checkAuthenticate(structuredClone(body), session);
    return true;
  } catch {
    return false;
  }
}

it('R57 the tool refuses a body exactly where the sandbox, written apart from it, does', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('payment', 'non-payment'),
      types,
      fc.constantFrom('customer' as const, 'merchant' as const),
      fc.constantFrom(true, false, undefined),
      left,
      (category, type, session, decoupled, paths) => {
        const whole = changed(fullBody(category, type), 'request_decoupled_challenge', decoupled);
        // Members go before the objects that contain them, because `changed` would create the objects again.
        const body = paths.toReversed().reduce((rest, path) => changed(rest, path, undefined), whole);
        expect(checkBody(body, session).length === 0).toBe(sandboxTakes(body, session));
      },
    ),
    { numRuns: process.env['SOAK'] === '1' ? 20_000 : 1_000 },
  );
});
