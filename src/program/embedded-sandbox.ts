import type { Context } from '../cli/context.ts';
import { sandboxDirectory } from '../cli/sandbox-directory.ts';

/** Starts the sandbox inside this process, on a free loopback port, for as long as the command runs. */
export async function openSandbox(context: Context): Promise<URL> {
  const { startSandbox } = await import('../sandbox/server.ts');
  const sandbox = await startSandbox({ directory: sandboxDirectory(context), port: 0, clock: context.clock });
  context.onClose(() => sandbox.close());
  return new URL(sandbox.url);
}
