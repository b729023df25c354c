import type { System } from '../system.ts';
import { writeAlone } from '../terminal/write-alone.ts';
import { parse } from './parse.ts';

/** Reads the command line and does what it asks for. Help needs nothing but the stream that it is written to. */
export async function run(argv: readonly string[], system: System): Promise<number> {
  const parsed = await parse(argv).catch((error: unknown) => ({ kind: 'mistake', error }) as const);
  if (parsed.kind === 'help') {
    const { helpText } = await import('./help-text.ts');
    return writeAlone(system, await helpText(parsed.about, system, system.stdout.columns));
  }
  const { execute } = await import('./execute.ts');
  return execute(parsed, argv, system);
}
