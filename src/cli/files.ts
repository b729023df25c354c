import path from 'node:path';
import type { Context } from './context.ts';

/** A path as typed, from the directory that the command runs in. */
export function resolvePath({ system }: Pick<Context, 'system'>, typed: string): string {
  return path.resolve(system.cwd, typed);
}
