import path from 'node:path';
import { SvcError } from '../../../base/errors.ts';
import { refuseWindowsName } from '../../../base/files/names.ts';
import { inspectTarget } from '../../../base/files/target.ts';
import type { System } from '../../../base/system.ts';

/** Returns the absolute path of a typed path. Refuses names that Windows reserves for devices. */
export function resolvePath({ system }: { readonly system: Pick<System, 'cwd' | 'platform'> }, typed: string): string {
  refuseWindowsName(typed, system.platform);
  return path.resolve(system.cwd, typed);
}

/** Checks that a path can become a new file. @throws SvcError `usage` if a file exists there, or a pipe or device */
export async function requireFile(target: string, force: boolean): Promise<void> {
  if ((await inspectTarget(target, force)).kind === 'file') return;
  throw new SvcError('usage', `${target} is not a file`, { hint: 'Give a file, not a pipe or a device.' });
}
