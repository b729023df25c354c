import type { ArchiveStore } from '../archive/store.ts';
import type { Context } from './context.ts';
import { argument } from './parameter.ts';
import { text } from './values.ts';

/** The place of an archive that is read. */
export const archivePlace = argument('<dir>', 'the place of the archive', text);

/** Opens the place of an archive as it was typed, without looking at it. @throws SvcError `usage` */
export async function openArchive(context: Context, place: string): Promise<ArchiveStore> {
  const { openArchiveStore } = await import('../archive/open-store.ts');
  const { clock, signal, system } = context;
  const { env, platform, home, cwd, pid } = system;
  const isAlive = (one: number): boolean => system.isAlive(one);
  return openArchiveStore({ env, platform, home, cwd, pid, isAlive, clock, signal }, place);
}
