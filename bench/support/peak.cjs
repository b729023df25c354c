// Loaded before a measured program: at its end, tells its peak memory in MB on file descriptor 3. On Linux by the
// memory of this program alone, since the figure of getrusage begins with that of the program that started it.
const { readFileSync, writeSync } = require('node:fs');

process.on('exit', () => writeSync(3, String(peak())));

function peak() {
  try {
    return Number(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024;
  } catch {
    return process.resourceUsage().maxRSS / 1024;
  }
}
