// Helpers of the measurements: run programs with their time and memory, in turns, and print the table.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, openSync, readSync, unlinkSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GOALS } from './goals.mjs';

const PEAK = fileURLToPath(new URL('peak.cjs', import.meta.url));

/** The arguments of Node for code of the tool that runs without it: the V8 flags that the tool sets. */
export const WITH_FLAGS = ['--require', fileURLToPath(new URL('flags.cjs', import.meta.url))];

/** Returns the environment of a measured program, without extra certificates, which slow the start of Node 20. */
export function plainEnvironment(home) {
  return { PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: home, XDG_STATE_HOME: home, NO_COLOR: '1' };
}

/** Runs Node. Resolves to its milliseconds, its processor milliseconds (`busy`) and its peak memory in MB. */
export async function runNode(args, env, options) {
  return runProgram(process.execPath, ['--require', PEAK, ...args], env, options);
}

/**
 * Runs any program. Its memory and processor time are known only if it writes them to file descriptor 3. With `lines`,
 * it has to print so many.
 */
export async function runProgram(program, args, env, { lines } = {}) {
  const started = performance.now();
  const errors = temporaryFile();
  const stdio = ['ignore', lines === undefined ? 'ignore' : 'pipe', errors, 'pipe'];
  const child = spawn(program, args, { env, stdio });
  const said = child.stdio[3].setEncoding('utf8').toArray();
  const [printed, [code]] = await Promise.all([lines && countLines(child.stdout), once(child, 'exit')]);
  const ms = performance.now() - started;
  const complaints = textOfFile(errors);
  if (code !== 0 || printed !== lines)
    throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${complaints.slice(-2000)}`);
  const [mb = NaN, ...seconds] = (await said).join('').trim().split(' ').map(Number);
  return { ms, mb, busy: seconds.reduce((sum, one) => sum + one, 0) * 1000 };
}

/** Opens a file without a name: Node's pipes are sockets, which a shell never gives to a program, and which cost it more. */
function temporaryFile() {
  const path = join(tmpdir(), `svc-bench-${process.pid}-${performance.now()}`);
  const file = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return file;
}

function textOfFile(file) {
  const text = Buffer.alloc(fstatSync(file).size);
  readSync(file, text, 0, text.length, 0);
  closeSync(file);
  return text.toString();
}

async function countLines(stream) {
  let lines = 0;
  for await (const chunk of stream)
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
  return lines;
}

/** Returns the middle value, or the mean of the two middle ones. */
function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
}

/**
 * Runs programs in turns, so that a busy moment of the machine affects all alike. Each is a function that resolves to the
 * figures of one run. Resolves to the median and the least of each figure, by the name of the program.
 */
export async function inTurns(runs, programs) {
  const taken = Object.fromEntries(Object.keys(programs).map((name) => [name, []]));
  for (let run = 0; run < runs; run += 1)
    for (const [name, program] of Object.entries(programs)) taken[name].push(await program());
  const each = (of) =>
    Object.fromEntries(Object.entries(taken).map(([name, figures]) => [name, combined(figures, of)]));
  return { median: each(median), least: each((values) => Math.min(...values)) };
}

function combined(runs, of) {
  const kinds = Object.keys(runs[0]);
  return Object.fromEntries(kinds.map((kind) => [kind, of(runs.map((figures) => figures[kind]))]));
}

/** Returns the rows of a measurement, `{ name, figure, unit }` of the medians, with `best` of the least figures. */
export function rowsFrom({ median: usual, least }, rowsOf) {
  const best = rowsOf(least);
  return rowsOf(usual).map((row, at) => {
    const { figure, floor, unit } = best[at];
    return Object.assign(row, { best: figure, floor, unit });
  });
}

/**
 * Prints the figures of a measurement beside their goals, and sends them to `bench/all.mjs` if that started it. A row may
 * have a floor, which nothing that makes the same checks can be below: its goal is then not less than a tenth above that.
 */
export function report(measurement, title, rows) {
  const [{ model }] = cpus();
  const load = loadavg()[0].toFixed(1);
  process.stdout.write(`${title}, Node ${process.versions.node}, ${cpus().length} × ${model.trim()}, load ${load}\n`);
  process.stdout.write(HEAD);
  for (const row of rows) process.stdout.write(`${lineOf(row, GOALS[measurement]?.[row.name])}\n`);
  process.send?.(rows);
}

export const HEAD = `${' '.repeat(56)}   median     best\n`;

/** Returns the line of the table for one row. Other work makes a run slower and never faster, so the best run counts. */
export function lineOf({ name, figure, best = figure, floor, unit }, { goal: given, isFloor = false } = {}) {
  const cells = [`  ${name.padEnd(54)}`, `${textOf(figure)} ${textOf(best)} ${unit.padEnd(21)}`];
  if (given !== undefined) {
    const goal = floor === undefined ? given : Math.max(given, Number((floor * 1.1).toFixed(2)));
    const isMissed = isFloor ? best < goal : best > goal;
    cells.push(`goal ${isFloor ? '≥' : '≤'} ${goal}${isMissed ? '  missed' : ''}`);
  }
  return cells.join(' ').trimEnd();
}

function textOf(figure) {
  const digits = figure < 10 ? 2 : figure < 100 ? 1 : 0;
  return figure.toFixed(digits).padStart(8);
}
