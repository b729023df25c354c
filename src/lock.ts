import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { writeFailure } from './atomic-file.ts';
import { SvcError } from './errors.ts';
import { birthOf, herePlace, readOwner, type LockOwner } from './lock-owner.ts';
import { systemCodeOf } from './system-code.ts';
import type { System } from './system.ts';

/** What a lock needs of its process; a `System` has it all. */
export type LockHost = Pick<System, 'pid' | 'isAlive' | 'clock' | 'signal'>;

/** How long to wait for a lock, in milliseconds, and what to call the thing it guards in an error. */
export interface LockOptions {
  readonly waitMs?: number | undefined;
  readonly what?: string | undefined;
}

const DEFAULT_WAIT_MS = 10_000;
const LONGEST_PAUSE_MS = 60;

/**
 * Runs `work` while holding the lock file `file`, in a directory that exists. Waits in short pauses while a living
 * process holds it; takes over from a dead one (kill -9) so that exactly one taker wins. Throws `SvcError` `config`
 * naming the holder when `waitMs` (10 s) is over, `local` when the lock cannot be written, or the signal's reason.
 * Locks left by another machine or container are never taken over: nobody here can tell whether it lives.
 */
export async function withLock<T>(
  file: string,
  host: LockHost,
  work: () => Promise<T> | T,
  options: LockOptions = {},
): Promise<T> {
  const token = await acquire(file, host, options);
  try {
    return await work();
  } finally {
    release(file, token);
    held.delete(token);
  }
}

// Tokens that this process holds: a lock with our pid and another token was left by an earlier process of that pid.
const held = new Set<string>();

async function acquire(file: string, host: LockHost, options: LockOptions): Promise<string> {
  const waitMs = options.waitMs ?? DEFAULT_WAIT_MS;
  for (let waited = 0; ;) {
    host.signal.throwIfAborted();
    const token = tryAcquire(file, host);
    if (token !== undefined) return token;
    if (waited >= waitMs) throw heldError(file, options.what ?? path.basename(file), host);
    const pause = 5 + Math.random() * (LONGEST_PAUSE_MS - 5);
    await host.clock.sleep(pause, host.signal);
    waited += pause;
  }
}

/** Takes the lock at once and gives its token, or undefined when another holds it. */
function tryAcquire(file: string, host: LockHost): string | undefined {
  const owner = readOwner(file);
  if (owner === undefined) return create(file, host);
  if (!isDead(owner, host)) return undefined;
  clearDead(file, owner, host);
  const token = create(file, host);
  if (token !== undefined) sweep(file);
  return token;
}

/**
 * Removes the lock of a dead owner. Two takers may see the same dead owner, and the slower one must not remove the
 * lock that the faster one has made since. So the right to remove is a lock too, named after the dead owner's token:
 * who has it looks again, and only a lock that still shows that token goes. A taker that dies here leaves a dead
 * lock of its own, cleared the same way.
 */
function clearDead(file: string, owner: LockOwner, host: LockHost): void {
  const claim = `${file}.${owner.token}`;
  const token = tryAcquire(claim, host);
  if (token === undefined) return;
  try {
    if (readOwner(file)?.token === owner.token) fs.unlinkSync(file);
  } finally {
    release(claim, token);
    held.delete(token);
  }
}

// What killed takers left. While we hold `file` no claim on an earlier owner means anything any more, and who loses
// a draft only tries again.
function sweep(file: string): void {
  const strays = /^(\.[0-9a-f]{16})+(\.new)?$/;
  const name = path.basename(file);
  for (const entry of fs.readdirSync(path.dirname(file)))
    if (entry.startsWith(name) && strays.test(entry.slice(name.length)))
      fs.rmSync(path.join(path.dirname(file), entry), { force: true });
}

// The content is written first and linked into place, so that no reader meets a lock without its owner.
function create(file: string, host: LockHost): string | undefined {
  const token = randomBytes(8).toString('hex');
  const draft = `${file}.${token}.new`;
  held.add(token);
  try {
    fs.writeFileSync(draft, ownerText(token, host), { flag: 'wx', mode: 0o600 });
    if (linkOrCopy(draft, file)) return token;
    held.delete(token);
    return undefined;
  } catch (error) {
    held.delete(token);
    throw writeFailure(file, error);
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

function ownerText(token: string, host: LockHost): string {
  const owner: LockOwner = {
    pid: host.pid,
    token,
    since: new Date(host.clock.now()).toISOString(),
    place: herePlace(),
    birth: birthOf(host.pid),
  };
  return JSON.stringify(owner);
}

const NO_LINKS = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK']);

// False when another has the lock, or swept our draft away.
function linkOrCopy(draft: string, file: string): boolean {
  try {
    fs.linkSync(draft, file);
    return true;
  } catch (error) {
    const code = systemCodeOf(error) ?? '';
    if (code === 'EEXIST' || code === 'ENOENT') return false;
    if (!NO_LINKS.has(code)) throw error;
  }
  try {
    fs.copyFileSync(draft, file, fs.constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function isDead(owner: LockOwner, host: LockHost): boolean {
  if (owner.place !== herePlace()) return false;
  if (owner.pid === host.pid) return !held.has(owner.token);
  if (!host.isAlive(owner.pid)) return true;
  const birth = birthOf(owner.pid);
  return owner.birth !== undefined && birth !== undefined && owner.birth !== birth;
}

function release(file: string, token: string): void {
  if (readOwner(file)?.token === token) fs.rmSync(file, { force: true });
}

function heldError(file: string, what: string, host: LockHost): SvcError {
  const owner = readOwner(file);
  const elsewhere =
    owner !== undefined && owner.place !== herePlace() ? ' on another machine or container' : '';
  const who = owner ? `process ${owner.pid}${elsewhere} since ${owner.since}` : 'an unknown process';
  const hint =
    owner && !elsewhere && host.isAlive(owner.pid)
      ? `Let process ${owner.pid} end, then run the command again.`
      : `If no svc runs there any more, delete ${file} and run the command again.`;
  return new SvcError('config', `${what} is locked by ${who}`, { hint, retryable: true });
}
