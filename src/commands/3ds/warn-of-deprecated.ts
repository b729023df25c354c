import type { Context } from '../../cli/context.ts';
import type { ThreeDsSession } from '../../schema/three-ds/session.ts';

/** Warns of fields that the interface has given up, where a session still holds them. */
export function warnOfDeprecated({ notices }: Context, session: ThreeDsSession): void {
  const found = [
    ...(session.pan_token_id ? ['pan_token_id'] : []),
    ...(session['pan'] ? ['pan'] : []),
    ...(session.authentication?.pan_token_id ? ['authentication.pan_token_id'] : []),
  ];
  if (found.length > 0)
    notices.warn(`deprecated in the interface: ${found.join(', ')}; read token_id in its place`);
}
