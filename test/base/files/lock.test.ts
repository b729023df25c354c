import { refuseLinks } from '../../support/refuse-links.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { withLock } from '../../../src/base/files/lock.ts';
import { thisHost } from '../../../src/base/files/lock-owner.ts';
import { fakeClock, testSystem } from '../../cli/config/support/system.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const ON_LINUX = process.platform === 'linux';
const DEAD_PID = 2 ** 30;
const OTHER_BOOT = '00000000-0000-4000-8000-000000000000';

function lockFile(owner?: object): string {
  const file = path.join(temporaryDirectory(), 'some.lock');
  if (owner !== undefined) fs.writeFileSync(file, JSON.stringify(owner));
  return file;
}

function ownerOf(parts: object = {}): object {
  const since = '2026-01-01T00:00:00.000Z';
  return { pid: DEAD_PID, token: '0123456789abcdef', since, place: thisHost(), ...parts };
}

function failWith(code: string): never {
  throw Object.assign(new Error('no'), { code });
}

/** Takes the lock and returns the names in its directory meanwhile. */
async function take(file: string, host = testSystem(), waitMs?: number): Promise<string[]> {
  return withLock(file, host, () => fs.readdirSync(path.dirname(file)), { waitMs });
}

it('a lock is held while the work runs, and gone after it, also when it fails', async () => {
  const file = lockFile();
  expect(await take(file)).toEqual(['some.lock']);
  expect(fs.existsSync(file)).toBe(false);
  const failure = withLock(file, testSystem(), () => Promise.reject(new Error('no')));
  await expect(failure).rejects.toThrow('no');
  expect(fs.existsSync(file)).toBe(false);
});

it('a lock names its holder when the wait is over, after 10 s', async () => {
  const clock = fakeClock();
  const file = lockFile(ownerOf({ pid: 77 }));
  const host = testSystem({ clock, isAlive: () => true });
  const error: unknown = await withLock(file, host, () => {}, { what: 'the run' }).catch((caught) => caught);
  expect(error).toMatchObject({ code: 'config', exitCode: 3, retryable: true });
  expect(error).toMatchObject({
    message: 'the run is locked by process 77 since 2026-01-01T00:00:00.000Z',
    hint: 'Let process 77 end, then run the command again.',
    facts: { held_by: 77 },
  });
  expect(clock.slept).toBeGreaterThanOrEqual(10_000);
  expect(clock.slept).toBeLessThan(10_100);
});

it('a lock is taken as soon as its holder lets go', async () => {
  const file = lockFile(ownerOf({ pid: 77 }));
  let sleeps = 0;
  const clock = fakeClock(() => {
    if (++sleeps === 3) fs.rmSync(file);
  });
  await take(file, testSystem({ clock, isAlive: () => true }));
  expect(sleeps).toBe(3);
});

it('a lock is waited for within one process too', async () => {
  const file = lockFile();
  let inside = 0;
  const work = async (): Promise<void> => {
    expect(++inside).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 2));
    inside--;
  };
  const clock = { ...fakeClock(), sleep: () => new Promise<void>((resolve) => setTimeout(resolve, 1)) };
  await Promise.all(Array.from({ length: 5 }, () => withLock(file, testSystem({ clock }), work)));
});

it.each([
  ['died', ownerOf()],
  ['had our own process id before us', ownerOf({ pid: process.pid })],
])('a lock is taken over from a process that %s, without a stray file', async (_why, owner) => {
  const file = lockFile(owner);
  fs.writeFileSync(`${file}.00000000000000aa.new`, '');
  fs.writeFileSync(`${file}.0123456789abcdef`, JSON.stringify(ownerOf({ token: 'aaaaaaaaaaaaaaaa' })));
  expect(await take(file)).toEqual(['some.lock']);
  expect(fs.readdirSync(path.dirname(file))).toEqual([]);
});

it('a lock that another process takes over first is that of the other process', async () => {
  const file = lockFile(ownerOf());
  const faster = JSON.stringify(ownerOf({ pid: 77, token: 'aaaaaaaaaaaaaaaa' }));
  const isAlive = (pid: number): boolean => {
    if (pid === DEAD_PID) fs.writeFileSync(file, faster);
    return pid !== DEAD_PID;
  };
  await expect(take(file, testSystem({ isAlive }), 0)).rejects.toMatchObject({ facts: { held_by: 77 } });
  expect(fs.readFileSync(file, 'utf8')).toBe(faster);
});

it.runIf(ON_LINUX)('a lock is taken over when another process has the pid now', async () => {
  const file = lockFile(ownerOf({ pid: process.ppid, birth: '1' }));
  expect(await take(file, testSystem({ isAlive: () => true }))).toEqual(['some.lock']);
});

it.runIf(ON_LINUX)('a lock is taken over from a process that ended and was never waited for', async () => {
  // The child ends only once the shell has become sleep, which never waits for a child and so leaves a zombie.
  const script = '(while read name < /proc/$$/comm && [ "$name" != sleep ]; do :; done) & echo $!; exec sleep 20';
  const parent = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void parent.kill());
  const pid = Number(String((await once(parent.stdout, 'data'))[0]));
  await expect.poll(() => fs.readFileSync(`/proc/${pid}/stat`, 'utf8')).toContain(') Z ');
  expect(await take(lockFile(ownerOf({ pid })), testSystem({ isAlive: () => true }))).toEqual(['some.lock']);
});

it.each([
  ['lives', ownerOf({ pid: 77 })],
  ['is on another machine', ownerOf({ place: 'elsewhere' })],
  ['is on a cloned machine of the same name', ownerOf({ boot: OTHER_BOOT })],
  ['is on a cloned machine and has our process id', ownerOf({ boot: OTHER_BOOT, pid: process.pid })],
  ['cannot be made out', { pid: 'x' }],
])('a lock is left alone when its holder %s', async (_why, owner) => {
  const file = lockFile(owner);
  const before = fs.readFileSync(file, 'utf8');
  const host = testSystem({ isAlive: (pid) => pid === 77 });
  await expect(take(file, host, 0)).rejects.toBeInstanceOf(SvcError);
  expect(fs.readFileSync(file, 'utf8')).toBe(before);
});

it.runIf(ON_LINUX)(
  'a lock tells which start of the machine it is from, and is taken over within that start',
  async () => {
    const file = lockFile();
    const written = await withLock(file, testSystem(), () => fs.readFileSync(file, 'utf8'));
    const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    expect(JSON.parse(written)).toMatchObject({ boot });
    expect(await take(lockFile(ownerOf({ boot })))).toEqual(['some.lock']);
  },
);

it('a lock says that its holder ran before a restart or on a machine of the same name, and how to continue', async () => {
  const file = lockFile(ownerOf({ boot: OTHER_BOOT }));
  // A process here that happens to have the holder's number is not the holder.
  const host = testSystem({ isAlive: () => true });
  const taking = withLock(file, host, () => {}, { what: 'the run', waitMs: 0 });
  await expect(taking).rejects.toMatchObject({
    code: 'config',
    facts: undefined,
    message:
      `the run is locked by process ${DEAD_PID} on this machine before it was restarted, or on another machine of ` +
      'the same name, since 2026-01-01T00:00:00.000Z',
    hint:
      'This machine cannot tell whether it still runs. If no svc runs there any more, ' +
      `delete ${file} and run the command again.`,
  });
});

it.each([
  ['names the other machine', 'svc-archive-1 pid:[4026532567]', ' (svc-archive-1)'],
  ['does not print what is no host name', '\u001b[2J pid:[4026532567]', ''],
])('a lock of another machine or container %s', async (_why, place, named) => {
  const file = lockFile(ownerOf({ place }));
  await expect(take(file, testSystem(), 0)).rejects.toMatchObject({
    message: `some.lock is locked by process ${DEAD_PID} on another machine or container${named} since 2026-01-01T00:00:00.000Z`,
    hint: expect.stringContaining(`delete ${file} and`),
  });
});

const EXT4 = 0xef53;
const NFS = 0x6969;
const HOST = os.hostname();

it.runIf(ON_LINUX).each([
  { why: 'from before a restart is taken over', type: EXT4, place: thisHost(), boot: OTHER_BOOT, isTaken: true },
  { why: 'of a container is taken over', type: EXT4, place: `${HOST} pid:[1]`, boot: OTHER_BOOT, isTaken: true },
  { why: 'in a network directory is left alone', type: NFS, place: thisHost(), boot: OTHER_BOOT, isTaken: false },
  { why: 'of another host is left alone', type: EXT4, place: 'elsewhere pid:[1]', boot: OTHER_BOOT, isTaken: false },
  { why: 'of this start in another container is left alone', type: EXT4, place: `${HOST} pid:[1]`, isTaken: false },
  { why: 'without a start is left alone', type: EXT4, place: `${HOST} pid:[1]`, boot: undefined, isTaken: false },
])('a lock that ends at a restart: one $why', async ({ type, isTaken, why: _why, ...owner }) => {
  const statfs = vi.spyOn(fs, 'statfsSync').mockReturnValue({ type } as fs.StatsFs);
  onTestFinished(() => statfs.mockRestore());
  const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  const file = lockFile(ownerOf({ boot, ...owner }));
  // The claim of a process that the loss of power ended while it took over an earlier lock.
  fs.writeFileSync(`${file}.0123456789abcdef`, JSON.stringify(ownerOf({ boot, ...owner, token: 'aaaaaaaaaaaaaaaa' })));
  const held = fs.readFileSync(file, 'utf8');
  const options = { waitMs: 0, endsAtRestart: true };
  const names = await withLock(file, testSystem(), () => fs.readdirSync(path.dirname(file)), options).catch(
    () => 'held',
  );
  const after = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : 'none';
  expect({ names, after }).toEqual(isTaken ? { names: ['some.lock'], after: 'none' } : { names: 'held', after: held });
  // Without the option nobody takes it, such as the lock of a run that pays.
  const strict = lockFile(ownerOf({ boot, ...owner }));
  await expect(take(strict, testSystem(), 0)).rejects.toMatchObject({ code: 'config' });
});

it('a lock is not removed at the end when another has taken it meanwhile', async () => {
  const file = lockFile();
  await withLock(file, testSystem(), () => fs.writeFileSync(file, JSON.stringify(ownerOf())));
  expect(JSON.parse(fs.readFileSync(file, 'utf8'))).toEqual(ownerOf());
});

it('a lock names its owner on the disk before it has its name: a machine without power keeps no lock of nobody', async () => {
  const file = lockFile();
  const flushed = new Set<number>();
  const flush = vi.spyOn(fs, 'fsyncSync').mockImplementation((fd) => void flushed.add(fs.fstatSync(fd).ino));
  onTestFinished(() => flush.mockRestore());
  await withLock(file, testSystem(), () => expect(flushed).toContain(fs.statSync(file).ino));
});

it.each(['EPERM', 'ENOTSUP'])(
  'a lock excludes others where the file system has no hard links and answers %s',
  async (code) => {
    const link = vi.spyOn(fs, 'linkSync').mockImplementation(() => {
      throw Object.assign(new Error('no links'), { code });
    });
    onTestFinished(() => link.mockRestore());
    const file = lockFile();
    await withLock(file, testSystem(), async () => {
      expect(fs.readdirSync(path.dirname(file))).toEqual(['some.lock']);
      await expect(take(file, testSystem(), 0)).rejects.toMatchObject({ code: 'config' });
    });
    expect(fs.readdirSync(path.dirname(file))).toEqual([]);
    // Only the copy, which never replaces a file, keeps two processes apart that saw no lock at the same time.
    const unreadable = lockFile({ pid: 'x' });
    await expect(take(unreadable, testSystem(), 0)).rejects.toMatchObject({ code: 'config' });
    expect(JSON.parse(fs.readFileSync(unreadable, 'utf8'))).toEqual({ pid: 'x' });
  },
);

it('a lock is held by another where the system answers EPERM to a lost race for its name', async () => {
  const file = lockFile();
  const link = vi.spyOn(fs, 'linkSync').mockImplementation((from, to) => {
    fs.copyFileSync(from, to);
    throw Object.assign(new Error('EPERM: link'), { code: 'EPERM', syscall: 'link' });
  });
  onTestFinished(() => link.mockRestore());
  await expect(take(file, testSystem(), 0)).rejects.toMatchObject({ code: 'config', message: /is locked by/ });
});

it('a lock refuses a file system that answers EIO to a hard link, with 3 and what it lacks', async () => {
  const file = lockFile();
  refuseLinks(path.dirname(file), 'EIO');
  await expect(take(file, testSystem(), 0)).rejects.toMatchObject({
    code: 'config',
    message: `${file} cannot be written: its file system has no hard links (EIO)`,
  });
});

it('a lock says that the disk is full also where the file system has no hard links', async () => {
  const spies = [
    vi.spyOn(fs, 'linkSync').mockImplementation(() => failWith('EPERM')),
    vi.spyOn(fs, 'copyFileSync').mockImplementation(() => failWith('ENOSPC')),
  ];
  onTestFinished(() => spies.forEach((spy) => spy.mockRestore()));
  await expect(take(lockFile(), testSystem(), 0)).rejects.toMatchObject({
    code: 'local',
    message: expect.stringContaining('the disk is full'),
  });
});

it('a lock is not waited for after a signal', async () => {
  const ending = new AbortController();
  const clock = fakeClock(() => ending.abort(new SvcError('interrupted', 'interrupted')));
  const host = testSystem({ clock, signal: ending.signal, isAlive: () => true });
  await expect(take(lockFile(ownerOf({ pid: 77 })), host)).rejects.toMatchObject({ code: 'interrupted' });
});

it('a lock says so when there is nowhere to put it', async () => {
  await expect(take('/proc/none/some.lock')).rejects.toMatchObject({ code: 'local' });
});
