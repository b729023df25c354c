import path from 'node:path';
import { requireDirectory } from '../config/paths.ts';
import { SvcError, systemCodeOf } from '../errors.ts';
import type { Context } from './command.ts';

/** Where the embedded sandbox keeps its state, so that a job of one command is there for the next. */
export function sandboxDirectory({ system }: Pick<Context, 'system'>): string {
  return path.join(requireDirectory(system, 'state'), 'sandbox');
}

/** The error for a sandbox that did not start; one of the system means that its directory cannot be used. */
export function sandboxFailure(directory: string, error: unknown): unknown {
  const code = systemCodeOf(error);
  if (code === undefined || error instanceof SvcError) return error;
  return new SvcError('local', `the sandbox cannot keep its state in ${directory} (${code})`, {
    hint: 'Make the directory writable, or set SVC_STATE_DIR to one that is.',
    cause: error,
  });
}
