// Helpers of the measurements: run a program with its time and memory, take a median, and print the table.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';

const PEAK = fileURLToPath(new URL('peak.cjs', import.meta.url));

/** Returns the environment of a measured program, without extra certificates, which slow the start of Node 20. */
export function plainEnvironment(home) {
  return { PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: home, XDG_STATE_HOME: home, NO_COLOR: '1' };
}

/** Runs Node. Resolves to its milliseconds, its processor milliseconds (`busy`) and its peak memory in MB. */
export async function runNode(args, env) {
  return runProgram(process.execPath, ['--require', PEAK, ...args], env);
}

/** Runs any program. Its memory and processor time are known only if it writes them to file descriptor 3. */
export async function runProgram(program, args, env) {
  const started = performance.now();
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
  const said = child.stdio[3].setEncoding('utf8').toArray();
  const complaints = child.stderr.setEncoding('utf8').toArray();
  const [code] = await once(child, 'exit');
  const ms = performance.now() - started;
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${(await complaints).join('')}`);
  const [mb = NaN, ...seconds] = (await said).join('').trim().split(' ').map(Number);
  return { ms, mb, busy: seconds.reduce((sum, one) => sum + one, 0) * 1000 };
}

/** Returns the middle value, or the mean of the two middle ones. */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
}

/**
 * Prints figures beside their goals, and sends them to `bench/all.mjs` if that started this measurement. A row is
 * `{ name, figure, unit, goal?, isFloor? }`. The goal is the highest acceptable figure, or the lowest with `isFloor`.
 */
export function report(title, rows) {
  const [{ model }] = cpus();
  process.stdout.write(`${title}, Node ${process.versions.node}, ${cpus().length} × ${model.trim()}\n`);
  for (const row of rows) process.stdout.write(`${lineOf(row)}\n`);
  process.send?.(rows);
}

/** Returns the line of the table for one row. */
export function lineOf({ name, figure, unit, goal, isFloor = false }) {
  const digits = figure < 10 ? 2 : figure < 100 ? 1 : 0;
  const cells = [`  ${name.padEnd(46)}`, `${figure.toFixed(digits).padStart(8)} ${unit.padEnd(14)}`];
  if (goal !== undefined) {
    const isMissed = isFloor ? figure < goal : figure > goal;
    cells.push(`goal ${isFloor ? '≥' : '≤'} ${goal}${isMissed ? '  missed' : ''}`);
  }
  return cells.join(' ').trimEnd();
}
