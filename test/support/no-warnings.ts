import { setImmediate } from 'node:timers/promises';
import { afterAll } from 'vitest';

// What Node warns of is a fault here too, such as a file that nobody closed or listeners that nobody takes back. It
// fails the file of tests under way: what was left behind can be found later, when memory is collected.
const warnings: string[] = [];
const keep = ({ stack, name, message }: Error): void => void warnings.push(stack ?? `${name}: ${message}`);
process.on('warning', keep);

afterAll(async () => {
  // A warning is sent in the next turn.
  await setImmediate();
  process.off('warning', keep);
  if (warnings.length > 0) throw new Error(`Node warned of what these tests do:\n${warnings.join('\n')}`);
});
