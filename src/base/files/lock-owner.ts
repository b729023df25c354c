// Identifies the process that holds a lock, and tells whether it has ended.

import fs from 'node:fs';
import os from 'node:os';

export function hostNameOf({ place }: LockOwner): string {
  return place.replace(/ .*$/s, '');
}

/** The owner of a lock: the content of the lock file. */
export interface LockOwner {
  readonly pid: number;
  /** Random, new each time a lock is taken. */
  readonly token: string;
  /** RFC 3339 time at which the lock was taken. */
  readonly since: string;
  /** Machine and process namespace to which `pid` belongs. */
  readonly place: string;
  /** Start time of the process, if known: a later process may get the same pid. */
  readonly birth: string | undefined;
  /** Id of the system's start, if known. */
  readonly boot?: string | undefined;
}

/**
 * Whether the owner's pid belongs to the present run of this machine, or the lock does not tell. Cloned machines may have the
 * same host name and share a directory, so an owner of another start is not known to be dead.
 */
export function isOfThisBoot(owner: LockOwner): boolean {
  return owner.boot === undefined || owner.boot === bootId();
}

/** Returns the random id that Linux makes at each start. Most containers have the id of their machine. */
export function bootId(): string | undefined {
  try {
    return fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** Identifies the scope of process numbers: the machine, its start and, on Linux, the process namespace. */
export function processSpace(): string {
  return `${thisHost()} ${bootId() ?? ''}`;
}

/** Names this machine and, on Linux, the process namespace (a container has its own). */
export function thisHost(): string {
  return `${os.hostname()} ${readLink('/proc/self/ns/pid')}`.trim();
}

/** Whether the owner has ended although its pid is in use, by a later process or by a zombie. */
export function hasEnded({ pid, birth }: LockOwner): boolean {
  const now = processFacts(pid);
  if (now === undefined) return false;
  // States Z and X are zombies, left by a parent that never waits for its children, as in some containers.
  return ['Z', 'X'].includes(now.state) || (birth !== undefined && now.birth !== birth);
}

/** State and start time (in clock ticks since boot) of a process; undefined where there is no /proc. */
export function processFacts(pid: number): { state: string; birth: string } | undefined {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the command in parentheses, possibly with spaces; the state is field 3, the start time field 22.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const state = fields[0];
    const birth = fields[19];
    return state === undefined || birth === undefined ? undefined : { state, birth };
  } catch {
    return undefined;
  }
}

function readLink(file: string): string {
  try {
    return fs.readlinkSync(file);
  } catch {
    return '';
  }
}
