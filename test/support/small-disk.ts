import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import type { Finished, Home } from './svc.ts';

const UNSHARE = '/usr/bin/unshare';

/**
 * Mounts a disk of `$1` pages for one command, copies `before` to it, and copies what the command left there to `left`.
 */
const ON_SMALL_DISK = `
mount -t tmpfs -o nr_blocks="$1" none disk || exit 97
shift
if [ -d before ]; then cp -r before/. disk/ || exit 98; fi
"$@"
code=$?
cp -r disk/. left/
exit $code
`;

/** Whether this machine lets a process mount a file system that no other process sees. */
export const CAN_MOUNT = spawnSync(UNSHARE, ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;

/** The end of the title of tests that need such a mount. */
export const NEEDS_MOUNT = CAN_MOUNT ? '' : ' (skipped: needs root, or unshare -rm)';

/**
 * Runs the tool with a disk of `pages` pages at `disk` in its home; the mount ends with the tool. The disk starts with
 * the files of `before`, and what the tool leaves on it is copied to `left`.
 */
export function onSmallDisk(
  home: Home,
  pages: number,
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Finished> {
  for (const name of ['disk', 'left']) mkdirSync(home.file(name), { recursive: true });
  return home.svc(argv, { env, under: [UNSHARE, '-rm', 'sh', '-c', ON_SMALL_DISK, 'sh', String(pages)] });
}
