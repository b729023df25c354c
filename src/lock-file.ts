import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { writeFailure } from './write-failure.ts';
import { birthOf, herePlace, isGone, readOwner, type LockOwner } from './lock-owner.ts';
import { systemCodeOf } from './system-code.ts';
import type { System } from './system.ts';

/** What a lock needs of its process; a `System` has it all. */
export type LockHost = Pick<System, 'pid' | 'isAlive' | 'clock' | 'signal'>;

/** Takes the lock at once, from a dead owner too, and gives its token; undefined when another holds it. */
export function tryLock(file: string, host: LockHost): string | undefined {
  const owner = readOwner(file);
  if (owner === undefined) return create(file, host);
  if (!isDead(owner, host)) return undefined;
  clearDead(file, owner, host);
  const token = create(file, host);
  if (token !== undefined) sweep(file);
  return token;
}

/** Gives back a lock, if `token` still holds it. */
export function releaseLock(file: string, token: string): void {
  held.delete(token);
  if (readOwner(file)?.token === token) fs.rmSync(file, { force: true });
}

// Tokens that this process holds: a lock with our pid and another token was left by an earlier process of that pid.
const held = new Set<string>();

/**
 * Removes the lock of a dead owner. Two takers may see the same dead owner, and the slower one must not remove the
 * lock that the faster one has made since. So the right to remove is a lock too, named after the dead owner's token:
 * who has it looks again, and only a lock that still shows that token goes. A taker that dies here leaves a dead
 * lock of its own, cleared the same way.
 */
function clearDead(file: string, owner: LockOwner, host: LockHost): void {
  const claim = `${file}.${owner.token}`;
  const token = tryLock(claim, host);
  if (token === undefined) return;
  try {
    if (readOwner(file)?.token === owner.token) fs.unlinkSync(file);
  } finally {
    releaseLock(claim, token);
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
  return !host.isAlive(owner.pid) || isGone(owner);
}
