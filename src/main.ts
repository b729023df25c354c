import type { System } from './system.ts';
import { VERSION } from './version.ts';

/**
 * Runs one command line and resolves to its exit code.
 * Nothing is loaded before it is known to be needed: the version needs only the stream that it is written to.
 */
export async function main(argv: readonly string[], system: System): Promise<number> {
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) return writeVersion(system);
  const { run } = await import('./program/run.ts');
  return run(argv, system);
}

async function writeVersion({ stdout }: System): Promise<number> {
  const { Output, ReaderGone } = await import('./terminal/output.ts');
  const out = new Output(stdout, { name: 'standard output', redact: (text) => text });
  try {
    await out.write(`${VERSION}\n`);
    return 0;
  } catch (error) {
    return error instanceof ReaderGone ? 0 : 1;
  }
}
