import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Home } from './svc.ts';

/** The moment at which a process dies: before or after it gives or takes the name of a file for the time `name`. */
export interface NameDeath {
  readonly name: number;
  readonly death: 'before' | 'after';
  /** Which names count, as a regular expression. Default: all. */
  readonly of?: string;
}

/** Preloaded by a process, which it kills. */
const KILLER = `
import fs from 'node:fs';
const { KILL_AT, KILL_OF, KILL_HOW } = process.env;
let left = Number(KILL_AT);
const counts = (name) => new RegExp(KILL_OF).test(name);
const die = () => {
  process.kill(process.pid, 'SIGKILL');
  // The signal may take a moment, in which nothing else happens.
  for (;;);
};
const CALLS = [
  [fs, 'renameSync', 1],
  [fs, 'linkSync', 1],
  [fs, 'rmSync', 0],
  [fs, 'mkdirSync', 0],
  [fs.promises, 'rename', 1],
  [fs.promises, 'link', 1],
  [fs.promises, 'unlink', 0],
];
for (const [holder, call, at] of CALLS) {
  const real = holder[call];
  holder[call] = (...given) => {
    const isLast = counts(String(given[at])) && (left -= 1) === 0;
    if (isLast && KILL_HOW === 'before') die();
    const result = real.apply(holder, given);
    if (!isLast) return result;
    if (result instanceof Promise) return result.then(die);
    return die();
  };
}
`;

/** Returns the environment in which a process dies. */
export function dying(home: Home, { name, death, of = '' }: NameDeath): Record<string, string> {
  const killer = home.file('killer.mjs');
  writeFileSync(killer, KILLER);
  return {
    NODE_OPTIONS: `--import ${pathToFileURL(killer).href}`,
    KILL_AT: String(name),
    KILL_HOW: death,
    KILL_OF: of,
  };
}
