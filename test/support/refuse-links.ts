import fs from 'node:fs';
import { onTestFinished, vi } from 'vitest';

/** Refuses hard links below a directory with a system's code until the test ends, as some file systems do. */
export function refuseLinks(directory: string, code: string): void {
  const link = fs.linkSync;
  const spy = vi.spyOn(fs, 'linkSync').mockImplementation((from, to) => {
    if (!String(to).startsWith(directory)) return link(from, to);
    throw Object.assign(new Error(`${code}: link`), { code, syscall: 'link' });
  });
  onTestFinished(() => spy.mockRestore());
}
