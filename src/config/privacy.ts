import type fs from 'node:fs';
import os from 'node:os';
import { SvcError } from '../errors.ts';

/** Lines for stderr about what was repaired on the way. */
export type Notices = readonly string[];

/** Whether others than the owner have any right. Never on Windows, where the mode says nothing. */
export function isShared(found: fs.Stats): boolean {
  return os.platform() !== 'win32' && (found.mode & 0o077) !== 0;
}

/** The permission bits, as in 0644. */
export function modeText(found: fs.Stats): string {
  return (found.mode & 0o7777).toString(8).padStart(4, '0');
}

/** Throws `SvcError` `config` when a file or directory belongs to another user. */
export function refuseForeign(place: string, { uid }: fs.Stats): void {
  if (isForeign(uid))
    throw refused(place, `belongs to another user (${uid})`, `Make it yours (chown), or set SVC_CONFIG_DIR.`);
}

/** Whether this user id is another's. Root's is not: root may read and change anything anyway. */
export function isForeign(uid: number): boolean {
  const own = ownUid();
  return own !== undefined && uid !== own && uid !== 0;
}

/** Takes others' rights away; what cannot be closed is refused (`SvcError` `config`). */
export function closeToOthers(place: string, mode: number, chmod: (mode: number) => void): void {
  try {
    chmod(mode);
  } catch (error) {
    throw refused(
      place,
      'can be read by others',
      `Run 'chmod ${mode.toString(8)} ${place}' as its owner.`,
      error,
    );
  }
}

/** The error for a place that will not do, with the mend. */
export function refused(place: string, problem: string, hint: string, cause?: unknown): SvcError {
  return new SvcError('config', `${place} ${problem}`, { hint, cause });
}

// Undefined on Windows and for a user whom the system cannot name (some containers); a chmod fails there instead.
function ownUid(): number | undefined {
  try {
    const { uid } = os.userInfo();
    return uid >= 0 ? uid : undefined;
  } catch {
    return undefined;
  }
}
