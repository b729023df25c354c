import { GLOBAL_PARAMETERS } from '../app/parameter.ts';
import { TOPICS } from '../app/topics.ts';
import { candidatesFor, NOTHING } from '../completion/complete.ts';
import { shellNamed } from '../completion/shells.ts';
import type { Completable } from '../completion/walk.ts';
import type { PathsHost } from '../config/paths.ts';
import { writePlain } from '../output/output.ts';
import type { System } from '../system.ts';
import { TREE } from './tree.ts';

/** `svc __complete`, which shells' scripts call on TAB. Prints no errors: they would land in the line being typed. */
export async function runComplete(argv: readonly string[], system: System): Promise<number> {
  const program = { tree: TREE, globals: GLOBAL_PARAMETERS, topics: Object.entries(TOPICS) };
  try {
    const text = await complete(program, argv, system);
    return text === undefined ? 2 : await writePlain(system, text);
  } catch {
    return 1;
  }
}

/** Answers a shell's script: its name, then what it passes. Undefined for an unknown shell. No network, no writes. */
export async function complete(program: Completable, argv: readonly string[], system: PathsHost) {
  const [name = '', ...args] = argv;
  const question = shellNamed(name)?.read(args);
  if (!question) return undefined;
  const { words, current, redirected } = question;
  if (redirected) return question.print({ ...NOTHING, kind: 'files' });
  return question.print(await candidatesFor(program, words, current, system));
}
