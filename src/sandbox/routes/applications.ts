import { type Application, applicationPageSchema } from '../../schema/vault.ts';
import { SANDBOX_KEYS } from '../keys.ts';
import { OFFSET_QUERY, offsetPage, pageNumber, pageSize } from '../paging.ts';
import { applicationId, ownerId, tenantId } from '../seed/entities.ts';
import type { StartEvent } from '../state/events.ts';
import { isoTime } from '../time.ts';
import type { ApiRoute, Call } from './route.ts';

// How many applications the sandbox's tenant has: more than two pages of the usual size.
const APPLICATION_COUNT = 45;

/** Endpoints of applications: the list that is paged by number, as most lists of the service are. */
export const APPLICATION_ROUTES: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/applications',
    summary: 'List applications',
    kind: 'management',
    permission: 'application:read',
    audit: { entityType: 'application', noun: 'Applications', operation: 'read' },
    query: OFFSET_QUERY,
    response: applicationPageSchema,
    status: 200,
    handle: list,
  },
];

function list({ service, query }: Call): unknown {
  const { start } = service.state.world;
  const applications = Array.from({ length: APPLICATION_COUNT }, (_, index) => application(start, index + 1));
  return offsetPage(applications, pageNumber(query), pageSize(query));
}

// The first ones are those that the sandbox's keys belong to. A list of applications never shows keys.
function application({ seed, at }: StartEvent, number: number): Application {
  const key = SANDBOX_KEYS.find((candidate) => candidate.application === number);
  return {
    id: applicationId(seed, number),
    tenant_id: tenantId(seed),
    name: key?.value.replace(/^sandbox-/, 'Sandbox ').replaceAll('-', ' ') ?? `Application ${number}`,
    type: key?.kind ?? (number % 3 === 0 ? 'management' : 'private'),
    permissions: [...(key?.permissions ?? [])],
    created_by: ownerId(seed),
    created_at: isoTime(at - (APPLICATION_COUNT - number + 1) * 86_400_000),
  };
}
