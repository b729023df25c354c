import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Does the first job of README with an installed program, in an empty home directory: a job at the embedded sandbox,
 * from its request file to its results.
 * @returns the number of rows in the results
 */
export function doMainJob(svc: string, directory: string): number {
  const home = join(directory, 'home');
  mkdirSync(home, { recursive: true });
  const env = { HOME: home, PATH: [dirname(process.execPath), '/usr/bin', '/bin'].join(':'), LANG: 'C.UTF-8' };
  const run = (...args: string[]): string => {
    const { error, status, stdout, stderr } = spawnSync(svc, args, { cwd: home, env, encoding: 'utf8' });
    if (status !== 0) throw error ?? new Error(`${svc} ${args.join(' ')} ended with ${String(status)}: ${stderr}`);
    return stdout;
  };
  writeFileSync(join(home, 'tokens.csv'), run('sandbox', 'cards', '--request'));
  run('--sandbox', 'au', 'submit', 'tokens.csv', '--wait', '--out', 'results.csv');
  return readFileSync(join(home, 'results.csv'), 'utf8').trimEnd().split('\n').length - 1;
}
