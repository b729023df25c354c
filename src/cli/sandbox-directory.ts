import path from 'node:path';
import { requireDirectory } from '../config/paths.ts';
import type { Context } from './context.ts';

/** Where the embedded sandbox keeps its state, so that a job of one command is there for the next. */
export function sandboxDirectory({ system }: Pick<Context, 'system'>): string {
  return path.join(requireDirectory(system, 'state'), 'sandbox');
}
