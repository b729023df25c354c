import { setImmediate } from 'node:timers/promises';
import { afterAll } from 'vitest';

// A warning of Node, such as of a file that was never closed or of listeners that pile up, fails the test file that is
// running. The cause may be an earlier test, since Node finds an unclosed file only when it collects memory.
const warnings: string[] = [];
const keep = ({ stack, name, message }: Error): void => void warnings.push(stack ?? `${name}: ${message}`);
process.on('warning', keep);

afterAll(async () => {
  // Node emits a warning in the next turn of the event loop.
  await setImmediate();
  process.off('warning', keep);
  if (warnings.length > 0) throw new Error(`Node warned of what these tests do:\n${warnings.join('\n')}`);
});
