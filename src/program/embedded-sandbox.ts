import path from 'node:path';
import type { Context } from '../cli/context.ts';
import { requireDirectory } from '../config/paths.ts';

/** Where the embedded sandbox keeps its state, so that a job of one command is there for the next. */
export function sandboxDirectory(context: Pick<Context, 'system'>): string {
  return path.join(requireDirectory(context.system, 'state'), 'sandbox');
}

/** Starts the sandbox inside this process, on a free loopback port, for as long as the command runs. */
export async function openSandbox(context: Context): Promise<URL> {
  const { startSandbox } = await import('../sandbox/server.ts');
  const sandbox = await startSandbox({ directory: sandboxDirectory(context), port: 0, clock: context.clock });
  context.onClose(() => sandbox.close());
  return new URL(sandbox.url);
}
