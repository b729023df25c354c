import { describe, expect, it } from 'vitest';
import { VERSION } from '../../../src/base/version.ts';
import { svcHere } from '../../support/run-here.ts';

describe('words of other tools', () => {
  it('svc version prints what svc --version prints', async () => {
    expect((await svcHere(['version'])).stdout).toBe(`${VERSION}\n`);
  });

  it.each([
    ['-o', 'json', '--version'],
    ['--sandbox', '-V'],
    ['--version', 'au'],
    ['au', 'submit', '--version'],
  ])('svc %s %s %s prints the version', async (...words) => {
    const { code, stdout } = await svcHere(words);
    expect([code, stdout]).toEqual([0, `${VERSION}\n`]);
  });

  it('svc auth status and logout do what whoami and logout do, and help lists none of them', async () => {
    const status = await svcHere(['--sandbox', 'auth', 'status', '--jq', '.profile']);
    expect([status.code, status.stdout]).toEqual([0, 'sandbox\n']);
    expect((await svcHere(['--sandbox', 'auth', 'logout'])).stderr).toContain('the sandbox has no stored keys');
    expect((await svcHere(['auth', 'login', '--sandbox'])).stderr).toContain('the sandbox needs no keys');
    const { stdout } = await svcHere(['--help']);
    expect(stdout).not.toMatch(/^ +(?:auth|version) /m);
  });

  it('svc profile list marks the profile in use in words for people, and as a boolean for programs', async () => {
    const env = { SVC_PROFILE: 'sandbox' };
    expect((await svcHere(['profile', 'list', '-o', 'table'], { env })).stdout).toMatch(/^sandbox +in use /m);
    expect((await svcHere(['profile', 'list', '-o', 'jsonl'], { env })).stdout).toContain('"current":true');
  });
});
