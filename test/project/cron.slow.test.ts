import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { isInstalled } from '../../src/base/files/names.ts';
import { Home, LAUNCHER } from '../support/svc.ts';

/** Cron reads its tables from fixed places, which are mounted over for it alone. */
const MOUNT =
  'mount --bind spool /var/spool/cron && mount --bind empty /etc/cron.d && mount --bind empty/none /etc/crontab';
const IN_NAMESPACE = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c'];
const CAN_RUN_CRON =
  process.getuid?.() === 0 &&
  isInstalled('cron', { PATH: '/usr/sbin' }) &&
  spawnSync('unshare', [...IN_NAMESPACE, 'mount -t tmpfs none /run']).status === 0;

it.skipIf(!CAN_RUN_CRON)(
  `cron finds svc by the PATH of the crontab, and not without it${CAN_RUN_CRON ? '' : ' (skipped: needs root, cron and unshare)'}`,
  async () => {
    const home = new Home();
    for (const name of ['spool/crontabs', 'empty', 'bin']) mkdirSync(home.file(name), { recursive: true });
    writeFileSync(home.file('empty/none'), '');
    symlinkSync(LAUNCHER, home.file('bin/svc'));
    const line = (out: string): string =>
      `* * * * * svc --sandbox tenant show --jq .type > ${home.file(out)} 2>&1; echo "$? $(date -u +\\%Y)" >> ${home.file(out)}`;
    const path = `PATH=${home.file('bin')}:${dirname(process.execPath)}:/usr/bin:/bin`;
    const table = [`HOME=${home.path}`, 'PATH=/usr/bin:/bin', line('without'), path, line('with'), ''].join('\n');
    writeFileSync(home.file('spool/crontabs/root'), table, { mode: 0o600 });
    const script = `${MOUNT} && mount -t tmpfs none /run && exec /usr/sbin/cron -f`;
    const cron = spawn('unshare', [...IN_NAMESPACE, script], { cwd: home.path, stdio: 'ignore' });
    const isDone = (name: string): boolean =>
      existsSync(home.file(name)) && /^\d+ \d{4}$/m.test(readFileSync(home.file(name), 'utf8'));
    try {
      await expect.poll(() => isDone('without') && isDone('with'), { interval: 500 }).toBe(true);
    } finally {
      cron.kill('SIGKILL');
    }
    expect(readFileSync(home.file('with'), 'utf8')).toMatch(/^test\n0 \d{4}\n$/);
    expect(readFileSync(home.file('without'), 'utf8')).toMatch(/svc: not found\n127 \d{4}\n$/);
  },
);
