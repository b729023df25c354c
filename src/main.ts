import { writePlain } from './output/output.ts';
import type { System } from './system.ts';
import { VERSION } from './version.ts';

/** Runs one command line and resolves to its exit code. Nothing is loaded before it is known to be needed. */
export async function main(argv: readonly string[], system: System): Promise<number> {
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    return writePlain(system, `${VERSION}\n`);
  }
  if (argv[0] === '__complete') {
    const { runComplete } = await import('./commands/complete.ts');
    return runComplete(argv.slice(1), system);
  }
  const [{ run }, { PROGRAM }] = await Promise.all([import('./app/run.ts'), import('./commands/tree.ts')]);
  return run(argv, system, PROGRAM);
}
