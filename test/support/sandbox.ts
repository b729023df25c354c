import type { SandboxOptions } from '../../src/emulator/options.ts';
import type { RunningSandbox } from '../../src/emulator/running-sandbox.ts';
import { startSandbox as start } from '../../src/emulator/server.ts';

/** Starts a sandbox for a test. Its cursors are strict, so that svc is never lucky with one of another request. */
export function startSandbox(options: SandboxOptions): Promise<RunningSandbox> {
  return start({ cursors: 'strict', keepsRequests: true, ...options });
}
