import type { Client } from '../../api/client.ts';
import { isSvcError } from '../../errors.ts';
import type { Authentication } from '../../schema/three-ds/authentication.ts';

/**
 * The outcome as the session tells it: with reasons and addresses that the answer to an authentication lacks.
 * Undefined where it cannot be read: what is known already counts for more than what could be added.
 */
export async function sessionOutcome({ threeDs }: Client, id: string): Promise<Authentication | undefined> {
  try {
    return (await threeDs.read(id)).authentication ?? undefined;
  } catch (error) {
    if (!isSvcError(error) || isSvcError(error, 'hangup', 'interrupted', 'terminated', 'time_up'))
      throw error;
    return undefined;
  }
}
