import type { Context } from '../../cli/app/command.ts';
import type { ActorNames } from '../actor-names.ts';
import { actorText } from '../actor.ts';
import { findOwnReads, hiddenText, type OwnReads } from '../follow/own-reads.ts';

/** Finds out which reads are this key's own, to hide them. Where that cannot be found out, warns if it `isAskedFor`. */
export async function ownReadsToHide(context: Context, isAskedFor = true): Promise<OwnReads | undefined> {
  const own = await findOwnReads(await context.client());
  own?.countSince(-Infinity);
  if (own === undefined && isAskedFor)
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
  isDefault = false,
): void {
  const text = own && hiddenText(own, (log) => actors?.textOf(log) ?? actorText(log));
  if (text !== undefined) notices.note(isDefault ? `${text}; --no-hide-own-reads shows them` : text);
}
