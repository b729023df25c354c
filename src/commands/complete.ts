import { GLOBAL_PARAMETERS } from '../app/parameter.ts';
import { TOPICS } from '../app/topics.ts';
import { complete } from '../completion/complete.ts';
import { writePlain } from '../output/output.ts';
import type { System } from '../system.ts';
import { TREE } from './tree.ts';

/**
 * `svc __complete`, which the scripts for shells call when TAB is pressed. Resolves to the exit code. Whatever goes
 * wrong, it says nothing: its words would land in the line that somebody is typing.
 */
export async function runComplete(argv: readonly string[], system: System): Promise<number> {
  const program = { tree: TREE, globals: GLOBAL_PARAMETERS, topics: Object.entries(TOPICS) };
  try {
    const text = await complete(program, argv, system);
    return text === undefined ? 2 : await writePlain(system, text);
  } catch {
    return 1;
  }
}
