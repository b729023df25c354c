import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import { afterAll, expect } from 'vitest';

// A warning of Node, such as of a file that was never closed or of listeners that pile up, fails the test file that is
// running. The message names the test that ran, and for an unclosed file the test that opened it: Node finds that file
// only when it collects memory, perhaps many test files later.
const warnings: string[] = [];
const keep = ({ stack, name, message }: Error): void => {
  const descriptor = /file descriptor:? (\d+)/i.exec(message)?.[1];
  const opener = descriptor === undefined ? undefined : openers().get(Number(descriptor));
  const cause = opener === undefined ? `while this ran: ${runningTest()}` : `the file was opened by: ${opener}`;
  warnings.push(`${cause}\n${stack ?? `${name}: ${message}`}`);
};
process.on('warning', keep);
// Later versions of Node throw an error for an unclosed file, and Vitest does not say which test is to blame for it.
const keepUnclosed = (error: Error): void => {
  if (error.message.startsWith('A FileHandle object was closed during garbage collection')) keep(error);
};
process.on('uncaughtExceptionMonitor', keepUnclosed);

afterAll(async () => {
  // Node emits a warning in the next turn of the event loop.
  await setImmediate();
  process.off('warning', keep);
  process.off('uncaughtExceptionMonitor', keepUnclosed);
  if (warnings.length > 0) throw new Error(`Node warned of what these tests do:\n${warnings.join('\n')}`);
});

/** Returns the test that opened each file, by its descriptor. Test files that share a worker share the map. */
function openers(): Map<number, string> {
  const shared = globalThis as { svcOpeners?: Map<number, string> };
  if (shared.svcOpeners === undefined) {
    const known = new Map<number, string>();
    shared.svcOpeners = known;
    const open = fs.open;
    fs.open = async (...args) => {
      const opener = runningTest();
      const handle = await open(...args);
      known.set(handle.fd, opener);
      return handle;
    };
    syncBuiltinESMExports();
  }
  return shared.svcOpeners;
}

function runningTest(): string {
  const { testPath, currentTestName = 'no test' } = expect.getState();
  return `${testPath}: ${currentTestName}`;
}

openers();
