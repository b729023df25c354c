import { cardTokenSchema, createCardTokenSchema, type CardToken } from '../../schema/card-token.ts';
import { applicationId, tenantId } from '../seed/entities.ts';
import { isoTime } from '../time.ts';
import { createToken } from '../vault/create-token.ts';
import { maskedNumber } from '../vault/mask.ts';
import type { ApiRoute, Call } from './route.ts';

/** The one endpoint of tokens: the creation that test cards need. */
export const TOKEN_ROUTES: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/tokens',
    summary: 'Create a card token',
    kind: 'private',
    permission: 'token:create',
    audit: { entityType: 'card', noun: 'Card', operation: 'create' },
    request: createCardTokenSchema,
    response: cardTokenSchema,
    status: 201,
    handle: create,
  },
];

async function create(call: Call): Promise<CardToken> {
  const { id, created } = await createToken(call);
  const { seed } = call.service.state.world.start;
  call.audit({ entityType: 'card', entityId: id, operation: 'create', message: 'Card created' });
  return {
    id,
    tenant_id: tenantId(seed),
    type: 'card',
    data: {
      number: maskedNumber(created.firstSix, created.lastFour, created.length),
      ...(created.month !== undefined && { expiration_month: Number(created.month) }),
      ...(created.year !== undefined && { expiration_year: Number(created.year) }),
    },
    created_by: applicationId(seed, created.application),
    created_at: isoTime(created.at),
  };
}
