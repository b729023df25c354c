import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { finished } from '../../support/svc.ts';
import { bundledChildren } from './support/processes.ts';
import { modeOf } from './support/system.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const SOAK = process.env['SOAK'] === '1';
const AS_ROOT = process.getuid?.() === 0;
const OTHER_UID = 65_533;
const children = bundledChildren();

interface Stored {
  readonly total?: number;
  readonly profiles: Record<string, unknown>;
  readonly filler?: string;
  readonly hash?: string;
}

function stored(directory: string): Stored {
  return JSON.parse(fs.readFileSync(path.join(directory, 'config.json'), 'utf8')) as Stored;
}

function at(directory: string): { env: Record<string, string> } {
  return { env: { SVC_CONFIG_DIR: directory } };
}

describe('the config file, written by real processes', () => {
  it.each(['000', '022', '077', '777'])(
    'R08: the config file is 0600 in a directory of 0700 from its creation, with umask %s',
    async (umask) => {
      const home = temporaryDirectory();
      const result = await children.run(['add', 'prod'], { env: { HOME: home }, shell: `umask ${umask}` });
      expect(result).toMatchObject({ code: 0, stderr: '' });
      const directory = path.join(home, '.config', 'svc');
      expect(modeOf(directory)).toBe('700');
      expect(modeOf(path.join(directory, 'config.json'))).toBe('600');
      expect(fs.readdirSync(directory)).toEqual(['config.json']);
    },
  );

  it('R08: the config file closes a file of 0644 and a directory of 0755, and says so', async () => {
    const directory = temporaryDirectory();
    fs.writeFileSync(path.join(directory, 'config.json'), '{"version":1,"profiles":{}}', { mode: 0o644 });
    fs.chmodSync(directory, 0o755);
    const result = await children.run(['read'], at(directory));
    expect(result.code).toBe(0);
    expect(result.stdout).toContain(`${path.basename(directory)} to others (its mode was 0755)`);
    expect(result.stdout).toMatch(/closed .*config\.json to others \(its mode was 0644\)/);
    expect([modeOf(directory), modeOf(path.join(directory, 'config.json'))]).toEqual(['700', '600']);
  });

  it.each(['read', 'add'])(
    'R08: the config file refuses a symlink and leaves its target as it is: %s',
    async (action) => {
      const directory = temporaryDirectory();
      const target = path.join(temporaryDirectory(), 'elsewhere.json');
      fs.writeFileSync(target, '{"version":1,"profiles":{}}', { mode: 0o644 });
      fs.symlinkSync(target, path.join(directory, 'config.json'));
      const result = await children.run([action, 'x'], at(directory));
      expect(result.code).toBe(3);
      expect(result.stderr).toContain('is a symbolic link');
      expect(modeOf(target)).toBe('644');
      expect(fs.readFileSync(target, 'utf8')).toBe('{"version":1,"profiles":{}}');
    },
  );

  it('R11: the config file keeps the old file when the disk has no room for the new one', async () => {
    const directory = temporaryDirectory();
    const filler = 'x'.repeat(100_000);
    const before = JSON.stringify({ version: 1, profiles: {}, filler });
    fs.writeFileSync(path.join(directory, 'config.json'), before, { mode: 0o600 });
    const result = await children.run(['add', 'prod'], { ...at(directory), shell: 'ulimit -f 20' });
    expect(result.code).toBe(1);
    expect(result.stderr).toContain('the file size limit is reached');
    expect(fs.readFileSync(path.join(directory, 'config.json'), 'utf8')).toBe(before);
    expect(fs.readdirSync(directory)).toEqual(['config.json']);
  });

  it('R11: the config file is the old or the new file whenever the writer is killed, and the next writer continues', async () => {
    const directory = temporaryDirectory();
    // At least one writer dies while it holds the lock.
    let midway = 0;
    for (let round = 0; round < (SOAK ? 200 : 8) || midway === 0; round++) {
      const child = children.start(['churn'], at(directory));
      const end = finished(child);
      await once(child.stdout!, 'data');
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
      child.kill('SIGKILL');
      await end;
      midway += Number(fs.existsSync(path.join(directory, 'config.json.lock')));
      const { filler = '', hash } = stored(directory);
      expect(createHash('sha256').update(filler).digest('hex')).toBe(hash);
    }
    expect(await children.run(['add', 'last'], at(directory))).toMatchObject({ code: 0 });
    expect(Object.keys(stored(directory).profiles)).toEqual(['last']);
    expect(fs.readdirSync(directory).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    expect(modeOf(path.join(directory, 'config.json'))).toBe('600');
  });

  it('R12: the config file loses no update of writers at the same time', async () => {
    const [writers, writes] = SOAK ? [8, 50] : [4, 15];
    const directory = temporaryDirectory();
    const results = await Promise.all(
      Array.from({ length: writers }, (_, id) => children.run(['count', `w${id}`, String(writes)], at(directory))),
    );
    expect(results.map(({ code, stderr }) => [code, stderr])).toEqual(results.map(() => [0, '']));
    expect(stored(directory).total).toBe(writers * writes);
    expect(Object.keys(stored(directory).profiles)).toHaveLength(writers * writes);
    expect(fs.readdirSync(directory)).toEqual(['config.json']);
  });

  it('R12: the config file lets one at a time hold the lock, though holders die', async () => {
    const [contenders, rounds] = SOAK ? [8, 600] : [4, 100];
    const directory = temporaryDirectory();
    const results = await Promise.all(
      Array.from({ length: contenders }, () => children.run(['contend', directory, String(rounds)])),
    );
    expect(results.map(({ code, stderr }) => [code, stderr])).toEqual(results.map(() => [0, '']));
    expect(fs.readFileSync(path.join(directory, 'entries'), 'utf8')).toHaveLength(contenders * rounds);
  });

  it('R10: the config file says where to go when there is no place to write to', async () => {
    const nowhere = await children.run(['add', 'prod'], { env: {} });
    expect(nowhere.code).toBe(3);
    expect(nowhere.stderr).toContain('SVC_CONFIG_DIR');
    const impossible = await children.run(['add', 'prod'], at('/proc/nowhere/svc'));
    expect(impossible.code).toBe(1);
    expect(impossible.stderr).toContain('could not be written');
  });

  it.runIf(AS_ROOT)('R08: the config file refuses a file of another user', async () => {
    const directory = temporaryDirectory();
    const file = path.join(directory, 'config.json');
    fs.writeFileSync(file, '{"version":1,"profiles":{}}', { mode: 0o600 });
    fs.chownSync(file, OTHER_UID, OTHER_UID);
    const result = await children.run(['read'], at(directory));
    expect(result.code).toBe(3);
    expect(result.stderr).toContain(`belongs to another user (${OTHER_UID})`);
  });

  it.runIf(AS_ROOT)(
    'R10: the config file reads a config where nothing can be written, and keeps it on a failed write',
    async () => {
      const directory = temporaryDirectory();
      await children.run(['add', 'prod'], at(directory));
      fs.chownSync(path.join(directory, 'config.json'), OTHER_UID, OTHER_UID);
      fs.chmodSync(directory, 0o755);
      const read = await children.run(['read'], { ...at(directory), uid: OTHER_UID });
      expect(read).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(read.stdout)).toMatchObject({ exists: true, notices: [] });
      const write = await children.run(['add', 'other'], { ...at(directory), uid: OTHER_UID });
      expect(write.code).toBe(3);
      expect(Object.keys(stored(directory).profiles)).toEqual(['prod']);
    },
  );

  it.runIf(AS_ROOT)('R10: the config file takes a home that it may not enter for one without settings', async () => {
    const home = temporaryDirectory();
    const result = await children.run(['read'], { env: { HOME: home }, uid: OTHER_UID });
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(result.stdout)).toMatchObject({ exists: false });
  });

  it.runIf(AS_ROOT).each([
    [
      'XDG_CONFIG_HOME in a directory that it may not enter',
      (closed: string) => ({ XDG_CONFIG_HOME: closed, HOME: '/' }),
    ],
    ['SVC_CONFIG_DIR that it may not enter', (closed: string) => ({ SVC_CONFIG_DIR: closed, HOME: '/' })],
    ['its own home that somebody else closed below', (closed: string) => ({ HOME: path.dirname(closed) })],
  ])('R13: the config file is refused, not taken for absent, with %s', async (_, env) => {
    const home = temporaryDirectory();
    fs.chmodSync(home, 0o755);
    const closed = path.join(home, '.config');
    fs.mkdirSync(path.join(closed, 'svc'), { recursive: true, mode: 0o700 });
    const result = await children.run(['read'], { env: env(closed), uid: OTHER_UID });
    expect(result).toMatchObject({ code: 3, stderr: expect.stringContaining('could not be read (EACCES)') });
  });
});
