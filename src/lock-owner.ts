import fs from 'node:fs';
import os from 'node:os';
import { readRegularFileSync } from './regular-file.ts';

/** Who holds a lock, as its file says. */
export interface LockOwner {
  readonly pid: number;
  /** Random, new for every taking of a lock. */
  readonly token: string;
  /** RFC 3339 time of the taking. */
  readonly since: string;
  /** Machine and process namespace in which `pid` has a meaning. */
  readonly place: string;
  /** When that process began, where the system tells: a later process may get the same pid. */
  readonly birth: string | undefined;
}

/** Reads a lock's owner; undefined when there is no lock, or none that makes sense. */
export function readOwner(file: string): LockOwner | undefined {
  let content: unknown;
  try {
    content = JSON.parse(readRegularFileSync(file));
  } catch {
    return undefined;
  }
  return isOwner(content) ? content : undefined;
}

/** Names this machine and, on Linux, the process namespace (a container has its own). */
export function herePlace(): string {
  return `${os.hostname()} ${readLink('/proc/self/ns/pid')}`.trim();
}

/** The start time of a process in clock ticks since boot; undefined where there is no /proc. */
export function birthOf(pid: number): string | undefined {
  return processFacts(pid)?.birth;
}

/** Whether the owner has ended though its pid is in use: by a later process, or by its own unburied remains. */
export function isGone({ pid, birth }: LockOwner): boolean {
  const now = processFacts(pid);
  if (now === undefined) return false;
  return ENDED_STATES.has(now.state) || (birth !== undefined && now.birth !== birth);
}

// A zombie, which a parent that waits for nobody (as in some containers) keeps for ever.
const ENDED_STATES = new Set(['Z', 'X']);

function processFacts(pid: number): { state: string; birth: string } | undefined {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the command in parentheses and may hold spaces; the state is field 3, the start time 22.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, birth] = [fields[0], fields[19]];
    return state === undefined || birth === undefined ? undefined : { state, birth };
  } catch {
    return undefined;
  }
}

function isOwner(content: unknown): content is LockOwner {
  if (typeof content !== 'object' || content === null) return false;
  const { pid, token, since, place, birth }: Partial<Record<keyof LockOwner, unknown>> = content;
  return (
    Number.isSafeInteger(pid) &&
    typeof token === 'string' &&
    /^[0-9a-f]{16}$/.test(token) &&
    typeof since === 'string' &&
    typeof place === 'string' &&
    (birth === undefined || typeof birth === 'string')
  );
}

function readLink(file: string): string {
  try {
    return fs.readlinkSync(file);
  } catch {
    return '';
  }
}
