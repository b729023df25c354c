import { SvcError } from '../errors.ts';
import { inspectTarget } from '../transfer/target.ts';

/** Looks at the place of a file that is to be written whole. @throws SvcError `usage` when it is taken, or none for a file */
export async function requireFile(target: string, force: boolean): Promise<void> {
  const { kind } = await inspectTarget(target, force);
  if (kind === 'file') return;
  throw new SvcError('usage', `${target} is not a file`, { hint: 'Give a file, not a pipe or a device.' });
}
