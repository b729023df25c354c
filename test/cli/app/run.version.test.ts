import { describe, expect, it } from 'vitest';
import { VERSION } from '../../../src/base/version.ts';
import { svcHere } from '../../support/run-here.ts';

describe('the version and the profile in use', () => {
  it.each([
    ['-o', 'json', '--version'],
    ['--sandbox', '-V'],
    ['--version', 'au'],
    ['au', 'submit', '--version'],
  ])('svc %s %s %s prints the version', async (...words) => {
    const { code, stdout } = await svcHere(words);
    expect([code, stdout]).toEqual([0, `${VERSION}\n`]);
  });

  it('svc profile list marks the profile in use in words for people, and as a boolean for programs', async () => {
    const env = { SVC_PROFILE: 'sandbox' };
    expect((await svcHere(['profile', 'list', '-o', 'table'], { env })).stdout).toMatch(/^sandbox +in use /m);
    expect((await svcHere(['profile', 'list', '-o', 'jsonl'], { env })).stdout).toContain('"current":true');
  });
});
