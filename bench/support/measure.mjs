// What the measurements have in common: a program run once with its time and memory, a median, and the table.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';

const PEAK = fileURLToPath(new URL('peak.cjs', import.meta.url));

/** The environment of a measured program. Extra certificates cost Node 20 tens of milliseconds a start: not ours. */
export function plainEnvironment(home) {
  return { PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: home, XDG_STATE_HOME: home, NO_COLOR: '1' };
}

/** Runs Node with these arguments: milliseconds, those of the processor, and the peak of its memory in MB. */
export async function runNode(args, env) {
  return runProgram(process.execPath, ['--require', PEAK, ...args], env);
}

/** Runs any program; without memory and processor time, unless it tells them on file descriptor 3. */
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

/** The middle one, or the mean of the two. */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
}

/**
 * Prints figures beside their goals, and hands them to `bench/all.mjs` where that runs this one. A row is
 * `{ name, figure, unit, goal?, isFloor? }`: a goal is the most that is wanted, or the least where `isFloor`.
 */
export function report(title, rows) {
  const [{ model }] = cpus();
  process.stdout.write(`${title}, Node ${process.versions.node}, ${cpus().length} × ${model.trim()}\n`);
  for (const row of rows) process.stdout.write(`${lineOf(row)}\n`);
  process.send?.(rows);
}

/** One row of the table. */
export function lineOf({ name, figure, unit, goal, isFloor = false }) {
  const digits = figure < 10 ? 2 : figure < 100 ? 1 : 0;
  const cells = [`  ${name.padEnd(46)}`, `${figure.toFixed(digits).padStart(8)} ${unit.padEnd(14)}`];
  if (goal !== undefined) {
    const isMissed = isFloor ? figure < goal : figure > goal;
    cells.push(`goal ${isFloor ? '≥' : '≤'} ${goal}${isMissed ? '  missed' : ''}`);
  }
  return cells.join(' ').trimEnd();
}
