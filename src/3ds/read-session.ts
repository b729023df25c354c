// Reads a session before it is authenticated, and checks its tenant.

import { isSvcError } from '../base/errors.ts';
import type { Context } from '../cli/app/command.ts';
import { describeTenant, requireKnownTenant, tenantInUse } from '../cli/app/tenant-mark.ts';
import type { Client } from '../client/api/client.ts';
import type { ThreeDsSession } from '../schema/three-ds/session.ts';

/**
 * Reads a session before its authentication. If the key may not read sessions, which authenticating does not require, warns that
 * the tenant and `others` are not checked, and returns undefined.
 * @throws SvcError `config` for a session of another tenant than the profile's known one
 */
export async function readSession(
  context: Context,
  { threeDs }: Client,
  id: string,
  others: readonly string[] = [],
): Promise<ThreeDsSession | undefined> {
  try {
    const session = await threeDs.read(id);
    requireKnownTenant(context, session.tenant_id, 'the session was not authenticated');
    return session;
  } catch (error) {
    if (!isSvcError(error, 'unauthorized', 'forbidden')) throw error;
    const known = tenantInUse(context);
    const tenant = known === undefined ? [] : [`that the key belongs to the ${describeTenant(known)}`];
    const unchecked = [...tenant, ...others].join(', or ');
    context.notices.warn(`the key may not read the session (${error.status}), so svc cannot check ${unchecked}`);
    return undefined;
  }
}

/**
 * Returns a check that the key belongs to the profile's known tenant, by a new session. A key has one tenant, so several sessions
 * share one read. Without a known tenant nothing is read, since no question named one.
 */
export function tenantCheck(context: Context, client: Client): (id: string) => Promise<void> {
  let check: Promise<unknown> | undefined = tenantInUse(context) === undefined ? Promise.resolve() : undefined;
  return async (id) => {
    try {
      await (check ??= readSession(context, client, id));
    } catch (error) {
      check = undefined;
      throw error;
    }
  };
}
