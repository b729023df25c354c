import { beforeEach, describe, expect, it } from 'vitest';
import { Home } from '../../support/svc.ts';

let home: Home;
beforeEach(() => {
  home = new Home();
});

describe('svc sandbox clock', () => {
  it('svc sandbox clock says whose clock it moved, and nothing when it moved none', async () => {
    const { stderr } = await home.svc(['sandbox', 'clock', '+1h']);
    expect(stderr).toMatch(/^moved the clock of the sandboxes on \/.*\/sandbox\n$/);
    expect((await home.svc(['sandbox', 'clock'])).stderr).toBe('');
  });

  it.each([['6'], ['+6'], ['+'], ['--at', 'later'], ['+1d', '--reset'], ['--at', '2h', '--reset'], ['+9999999d']])(
    'svc sandbox clock refuses %s %s',
    async (...words) => {
      const { code, stderr } = await home.svc(['sandbox', 'clock', ...words]);
      expect([code, stderr]).toEqual([2, expect.stringMatching(/must|cannot be combined/)]);
    },
  );
});

describe('SVC_SANDBOX_FAULTS', () => {
  it('R05: SVC_SANDBOX_FAULTS is a usage error when it makes no sense, and does not repeat it', async () => {
    const { code, stderr } = await home.svc(['--sandbox', 'tenant'], { env: { SVC_SANDBOX_FAULTS: 'canary' } });
    expect([code, stderr]).toEqual([2, expect.stringContaining('SVC_SANDBOX_FAULTS: fault 1: expected')]);
    expect(stderr).not.toContain('canary');
  });
});

describe('svc sandbox requests', () => {
  it('svc sandbox requests is an empty list before the first request', async () => {
    const { code, stdout, stderr } = await home.svc(['sandbox', 'requests']);
    expect([code, stdout, stderr]).toEqual([0, '', 'the sandbox has received no requests yet\n']);
  });
});
