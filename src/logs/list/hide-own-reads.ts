import type { Context } from '../../cli/app/command.ts';
import type { ActorNames } from '../actor-names.ts';
import { actorText } from '../actor.ts';
import { findOwnReads, hiddenText, type OwnReads } from '../follow/own-reads.ts';

/** Finds out which reads are this key's own, to hide them. Warns and returns undefined if that cannot be found out. */
export async function ownReadsToHide(context: Context): Promise<OwnReads | undefined> {
  const own = await findOwnReads(await context.client());
  own?.countSince(-Infinity);
  if (own === undefined)
    context.notices.warn(
      'no read is hidden: the service does not show under which actor it logs the reads of this key',
    );
  return own;
}

/** Says how many own reads were hidden, and whose they are. */
export function reportHidden(
  { notices }: Pick<Context, 'notices'>,
  own: OwnReads | undefined,
  actors: Pick<ActorNames, 'textOf'> | undefined,
): void {
  const text = own && hiddenText(own, (log) => actors?.textOf(log) ?? actorText(log));
  if (text !== undefined) notices.note(text);
}
