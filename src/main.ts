import type { System } from './base/system.ts';
import { VERSION } from './base/version.ts';
import { writePlain } from './cli/output/output.ts';

/** Runs one command line and resolves to its exit code. It loads only what the command line needs. */
export async function main(argv: readonly string[], system: System): Promise<number> {
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    return writePlain(system, `${VERSION}\n`);
  }
  if (argv[0] === '__complete') {
    const { runComplete } = await import('./general/completion/shells.ts');
    const { TREE } = await import('./tree.ts');
    return runComplete(argv.slice(1), system, TREE);
  }
  const { PROGRAM } = await import('./tree.ts');
  if (argv.length === 1 && (argv[0] === '--help' || argv[0] === '-h')) {
    const { helpText } = await import('./cli/app/help.ts');
    const request = { about: { kind: 'tool', program: PROGRAM }, full: false } as const;
    return writePlain(system, await helpText(request, system));
  }
  const { run } = await import('./cli/app/run.ts');
  return run(argv, system, PROGRAM);
}
