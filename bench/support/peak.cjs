// Loaded before a measured program: at its end, tells its peak memory in MB and its processor time in seconds on
// file descriptor 3. On Linux by the memory of this program alone, since the figure of getrusage begins with that of the program that started it.
const { readFileSync, writeSync } = require('node:fs');

process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  writeSync(3, `${peak()} ${(user + system) / 1e6}`);
});

function peak() {
  try {
    return Number(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024;
  } catch {
    return process.resourceUsage().maxRSS / 1024;
  }
}
