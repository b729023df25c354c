import os from 'node:os';
import path from 'node:path';
import { SvcError, systemCodeOf } from '../errors.ts';

const BUSY: ReadonlySet<string> = new Set(['EPERM', 'EACCES', 'EBUSY']);
const LONGEST_PAUSE_MS = 640;

/**
 * Runs what renames, links or removes a file. Windows refuses that while a virus scanner, an indexer or a reader has
 * the file open, as a rule for a moment: there it is tried again for a second.
 */
export function whileBusy<T>(change: () => T, platform = os.platform(), pause = sleep): T {
  for (let ms = 10; ; ms *= 2) {
    try {
      return change();
    } catch (error) {
      if (platform !== 'win32' || ms > LONGEST_PAUSE_MS || !BUSY.has(systemCodeOf(error) ?? '')) throw error;
      pause(ms);
    }
  }
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

// A device, whatever its ending; a stream within a file, or a pattern; a dot or space at the end, which is dropped.
const MISREAD = [
  /^(?:con|prn|aux|nul(?= *\.)|com[\d¹²³]|lpt[\d¹²³]|conin\$|conout\$) *(?:\.|$)/i,
  /[<>:"|?*\p{Cc}]/u,
  /^(?!\.{1,2}$).*[. ]$/s,
];

/** @throws SvcError `usage` for a name that Windows takes for something else. NUL alone, which discards, is no such. */
export function refuseWindowsName(file: string, platform = os.platform()): void {
  if (platform !== 'win32' || /^\\\\[?.]\\/.test(file)) return;
  const names = file.replace(/^[a-z]:/i, '').split(/[\\/]/);
  if (!names.some((name) => MISREAD.some((form) => form.test(name)))) return;
  throw new SvcError('usage', `${file} cannot be the name of a file on Windows`, {
    hint: 'Choose one without < > : " | ? *, with no dot or space at its end, and other than CON, PRN, AUX, NUL, COM1 or LPT1.',
  });
}

/** Whether two paths name the same file: macOS and Windows ignore case, and how accents are composed. */
export function isSamePath(one: string, other: string, platform = os.platform()): boolean {
  const ignoresCase = platform === 'win32' || platform === 'darwin';
  const [a, b] = [one, other].map((file) => path.resolve(file));
  return a === b || (ignoresCase && a?.normalize().toLowerCase() === b?.normalize().toLowerCase());
}
