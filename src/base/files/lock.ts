import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isSvcError, SvcError, systemCodeOf, writeFailure } from '../errors.ts';
import type { System } from '../system.ts';
import { whileBusy, writeFlushed } from './durable.ts';
import { readRegularFileSync } from './read.ts';
import { NO_LINKS } from './target.ts';
import { type LockOwner, thisHost, hostNameOf, isOfThisBoot, processFacts, bootId, hasEnded } from './lock-owner.ts';

export interface LockOptions {
  /** How long to wait, in milliseconds. */
  readonly waitMs?: number | undefined;
  /** The name of the guarded thing in an error. */
  readonly what?: string | undefined;
  /** A sentence for the hint that tells the user to delete the lock: what to consider first. */
  readonly advice?: string | undefined;
  /**
   * Whether to take over a lock from before a restart of this machine, if the lock file is on a disk. Only for work that two
   * writers cannot damage, because two containers on one machine can look like the same machine before and after a restart.
   */
  readonly endsAtRestart?: boolean | undefined;
  /** Called for a network file system without hard links, where another machine may take the same lock. */
  readonly onWithoutLinks?: (() => void) | undefined;
}

const DEFAULT_WAIT_MS = 10_000;
const MAX_PAUSE_MS = 60;

/**
 * Runs `work` while holding a lock file, whose directory must exist. Waits up to `waitMs` (10 s) while another process holds
 * the lock. Takes over the lock of a dead process, such as after kill -9; of several takers, exactly one wins.
 *
 * Does not take over locks of another machine or container, or (without `endsAtRestart`) from before a restart of this
 * machine, because svc cannot know whether their processes are alive.
 * @throws SvcError `config` when the wait is over, with `held_by` for a holder known to be alive; `local` when the lock cannot
 * be written; or the signal's reason
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
    releaseLock(file, token);
  }
}

/** Whether a process that may be alive holds a lock, including this process. */
export function isLocked(file: string, host: Pick<LockHost, 'pid' | 'isAlive'>): boolean {
  const owner = readOwner(file);
  return owner === undefined ? fs.existsSync(file) : !isDead(owner, host);
}

async function acquire(file: string, host: LockHost, options: LockOptions): Promise<string> {
  const waitMs = options.waitMs ?? DEFAULT_WAIT_MS;
  for (let waited = 0; ;) {
    host.signal.throwIfAborted();
    const token = tryLock(file, host, options);
    if (token !== undefined) return token;
    if (waited >= waitMs) throw heldError(file, host, options);
    const pause = 5 + Math.random() * (MAX_PAUSE_MS - 5);
    await host.clock.sleep(pause, host.signal);
    waited += pause;
  }
}

function heldError(file: string, host: LockHost, { what = path.basename(file), advice }: LockOptions): SvcError {
  const owner = readOwner(file);
  const elsewhere = owner === undefined ? '' : elsewhereText(owner);
  const who = owner ? `process ${owner.pid}${elsewhere} since ${owner.since}` : 'an unknown process';
  const isAtWork = owner !== undefined && !elsewhere && host.isAlive(owner.pid);
  const hint = isAtWork
    ? `Let process ${owner.pid} end, then run the command again.`
    : [
        `This machine cannot tell whether it still runs. If no svc runs there any more, delete ${file} and run the command again.`,
        ...(advice === undefined ? [] : [advice]),
      ].join(' ');
  return new SvcError('config', `${what} is locked by ${who}`, {
    hint,
    retryable: true,
    facts: isAtWork ? { held_by: owner.pid } : undefined,
  });
}

/** Whether an error reports a lock that a living process of this machine holds. */
export function isHeld(error: unknown): error is SvcError & { readonly facts: object } {
  return isSvcError(error) && error.facts?.['held_by'] !== undefined;
}

/**
 * Waits for work under a lock.
 * @throws SvcError `pending` if a living process has the lock, else as `work`
 */
export async function heldAsPending<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw isHeld(error) ? error.with({ code: 'pending' }) : error;
  }
}

// Describes where the owner runs; empty for this machine since its last start.
function elsewhereText(owner: LockOwner): string {
  if (owner.place !== thisHost()) {
    const name = hostNameOf(owner);
    return ` on another machine or container${/^[\w.-]{1,64}$/.test(name) ? ` (${name})` : ''}`;
  }
  if (isOfThisBoot(owner)) return '';
  return ' on this machine before it was restarted, or on another machine of the same name,';
}

/** The parts of a `System` that a lock needs. */
export type LockHost = Pick<System, 'pid' | 'isAlive' | 'clock' | 'signal'>;

/** Takes a lock without waiting, also from a dead owner. Returns the lock's token; undefined if another process has the lock. */
function tryLock(file: string, host: LockHost, options: LockOptions): string | undefined {
  const owner = readOwner(file);
  if (owner === undefined) return create(file, host, options);
  const isOver = isDead(owner, host) || (options.endsAtRestart === true && isFromBeforeRestart(owner, file));
  if (!isOver) return undefined;
  clearDead(file, owner, host, options);
  const token = create(file, host, options);
  if (token !== undefined) sweep(file);
  return token;
}

/** Releases a lock, if it still has this token. */
function releaseLock(file: string, token: string): void {
  held.delete(token);
  if (readOwner(file)?.token === token) whileBusy(() => fs.rmSync(file, { force: true }));
}

// Tokens of this process. A lock with this pid and another token belonged to an earlier process with the same pid.
const held = new Set<string>();

/**
 * Removes the lock of a dead owner. Of two processes that find the same dead owner, the slower process must not remove the new
 * lock of the faster process. So a process first takes a second lock, the claim, named after the dead owner's token. The holder
 * of the claim removes only a lock that still has this token. A process that dies here leaves a dead claim, which the next
 * process removes in the same way.
 */
function clearDead(file: string, owner: LockOwner, host: LockHost, options: LockOptions): void {
  const claim = `${file}.${owner.token}`;
  const token = tryLock(claim, host, options);
  if (token === undefined) return;
  try {
    if (readOwner(file)?.token === owner.token) whileBusy(() => fs.unlinkSync(file));
  } finally {
    releaseLock(claim, token);
  }
}

// Removes files that killed processes left beside the lock. Only the holder of the lock calls this. A living process may
// lose its file too: it then tries again to take the lock.
function sweep(file: string): void {
  const orphans = /^(\.[0-9a-f]{16})+(\.new)?$/;
  const name = path.basename(file);
  const directory = path.dirname(file);
  for (const entry of fs.readdirSync(directory)) {
    const isOrphan = entry.startsWith(name) && orphans.test(entry.slice(name.length));
    if (isOrphan) fs.rmSync(path.join(directory, entry), { force: true });
  }
}

// Flushes the owner before linking the lock into place: nobody could take over a lock that a loss of power left empty.
function create(file: string, host: LockHost, options: LockOptions): string | undefined {
  const token = randomBytes(8).toString('hex');
  const draft = `${file}.${token}.new`;
  held.add(token);
  let isTaken = false;
  try {
    const owner: LockOwner = {
      pid: host.pid,
      token,
      since: new Date(host.clock.now()).toISOString(),
      place: thisHost(),
      birth: processFacts(host.pid)?.birth,
      boot: bootId(),
    };
    writeFlushed(draft, JSON.stringify(owner));
    isTaken = linkOrCopy(draft, file, options);
    return isTaken ? token : undefined;
  } catch (error) {
    throw writeFailure(file, error);
  } finally {
    if (!isTaken) held.delete(token);
    whileBusy(() => fs.rmSync(draft, { force: true }));
  }
}

// Returns false if another process has the lock, or removed the draft.
function linkOrCopy(draft: string, file: string, options: LockOptions): boolean {
  try {
    fs.linkSync(draft, file);
    return true;
  } catch (error) {
    const code = systemCodeOf(error) ?? '';
    if (code === 'EEXIST' || code === 'ENOENT' || fs.existsSync(file)) return false;
    if (!NO_LINKS.has(code)) throw error;
  }
  try {
    whileBusy(() => fs.copyFileSync(draft, file, fs.constants.COPYFILE_EXCL));
    if (!isOnDisk(path.dirname(file))) options.onWithoutLinks?.();
    return true;
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function isDead(owner: LockOwner, host: Pick<LockHost, 'pid' | 'isAlive'>): boolean {
  if (owner.place !== thisHost() || !isOfThisBoot(owner)) return false;
  if (owner.pid === host.pid) return !held.has(owner.token);
  return !host.isAlive(owner.pid) || hasEnded(owner);
}

/**
 * Whether the owner ran before the last start of this machine. The host name is not enough: a cloned machine or a container on
 * another node may have the same name and share the directory over the network. But only one running system at a time uses
 * the file system of a disk.
 */
function isFromBeforeRestart(owner: LockOwner, file: string): boolean {
  const isEarlier = owner.boot !== undefined && bootId() !== undefined && !isOfThisBoot(owner);
  return isEarlier && hostNameOf(owner) === os.hostname() && isOnDisk(path.dirname(file));
}

/** The file systems of disks, by the numbers of Linux: ext2 to ext4, XFS, Btrfs, F2FS, ZFS, FAT, exFAT. */
const DISKS: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0x4d44, 0x2011bab0,
]);

function isOnDisk(directory: string): boolean {
  try {
    // Some of the numbers are negative on 32-bit systems.
    return DISKS.has(fs.statfsSync(directory).type >>> 0);
  } catch {
    return false;
  }
}

/** Reads a lock's owner; undefined if there is no lock, or its content is invalid. */
function readOwner(file: string): LockOwner | undefined {
  try {
    const owner = JSON.parse(readRegularFileSync(file)) as LockOwner;
    const isValid =
      Number.isSafeInteger(owner.pid) &&
      /^[0-9a-f]{16}$/.test(owner.token) &&
      typeof owner.since === 'string' &&
      typeof owner.place === 'string' &&
      [owner.birth, owner.boot].every((part) => ['string', 'undefined'].includes(typeof part));
    return isValid ? owner : undefined;
  } catch {
    return undefined;
  }
}
