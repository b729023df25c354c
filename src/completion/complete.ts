import type { PathsHost } from '../config/paths.ts';
import { answer, NOTHING } from './answer.ts';
import { shellNamed } from './shells.ts';
import type { Program } from './walk.ts';

/**
 * Answers a shell's script: `argv` is the shell's name and what its script gives. Undefined for a shell that is not
 * known. Asks no network and writes nothing.
 */
export async function complete(
  program: Program,
  argv: readonly string[],
  system: PathsHost,
): Promise<string | undefined> {
  const [name = '', ...args] = argv;
  const question = shellNamed(name)?.read(args);
  if (!question) return undefined;
  const { words, current, redirected } = question;
  if (redirected) return question.tell({ ...NOTHING, kind: 'files' });
  return question.tell(await answer(program, words, current, system));
}
