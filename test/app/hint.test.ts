import { describe, expect, it } from 'vitest';
import { sameProfile } from '../../src/app/hint.ts';

describe('the profile in quoted commands', () => {
  it.each([
    [{ sandbox: true, profile: undefined }, "'svc --sandbox au wait 1', `svc login`, 'svc sandbox reset'"],
    [
      { sandbox: false, profile: 'p' },
      "'svc --profile p au wait 1', `svc --profile p login`, 'svc sandbox reset'",
    ],
    [
      { sandbox: false, profile: 'sandbox' },
      "'svc --profile sandbox au wait 1', `svc login`, 'svc sandbox reset'",
    ],
    [{ sandbox: false, profile: undefined }, "'svc au wait 1', `svc login`, 'svc sandbox reset'"],
  ])('is the one that was named: %o', (globals, told) => {
    expect(sameProfile("'svc au wait 1', `svc login`, 'svc sandbox reset'", globals)).toBe(told);
  });

  it('does not stand twice in one command', () => {
    const hint = "'svc login --profile <name>' makes a new one";
    expect(sameProfile(hint, { sandbox: false, profile: 'p' })).toBe(hint);
  });
});
