import { FaultSyntaxError } from '../faults/occasion.ts';
import { findKey } from '../keys.ts';
import { invalid, problem } from '../problem.ts';
import { readText } from '../request.ts';
import { jsonResponse, type ServiceResponse } from '../response.ts';
import type { Route } from '../router.ts';
import type { Service } from '../service.ts';
import { splitOutcomes } from '../three-ds/forced-outcome.ts';
import { listOutcomes } from '../three-ds/set-outcomes.ts';
import { objectOrUndefined, parsedJson } from '../../schema/json-value.ts';

/**
 * Routes that only the sandbox has. Tests in any language set the outcomes of authentications here, without a key, and svc
 * reads the permissions of a key.
 */
export function controlRoutes({
  state,
  tenant,
  options: { without = [], acceptTokens = false },
}: Service): readonly Route[] {
  const list = (): ServiceResponse => jsonResponse(200, { data: listOutcomes(state.world) });
  return [
    {
      method: 'GET',
      path: '/sandbox/key',
      respond({ headers }) {
        const key = findKey(headers['svc-api-key'], tenant);
        if (key === undefined || key.expired || state.world.deleted) throw problem(401, 'The API key is not known.');
        const prefixes = without.map((feature) => `${feature}:`);
        const permissions = key.permissions.filter((name) => !prefixes.some((prefix) => name.startsWith(prefix)));
        return jsonResponse(200, { kind: key.kind, permissions, invents_results: acceptTokens });
      },
    },
    { method: 'GET', path: OUTCOMES, respond: list },
    {
      method: 'POST',
      path: OUTCOMES,
      async respond(request) {
        const texts = readTexts(textIn(await readText(request, MAX_OUTCOMES_BYTES)));
        state.record({ type: 'outcomes', at: state.now(), texts });
        return list();
      },
    },
    {
      method: 'DELETE',
      path: OUTCOMES,
      respond() {
        state.record({ type: 'outcomes-cleared', at: state.now() });
        return list();
      },
    },
  ];
}

const OUTCOMES = '/sandbox/outcomes';
const MAX_OUTCOMES_BYTES = 100_000;

/** Returns the outcomes in a body, which is a text, or a JSON object with the member `outcome`. */
function textIn(body: string): string {
  const outcome = objectOrUndefined(parsedJson(body))?.['outcome'];
  return typeof outcome === 'string' ? outcome : body;
}

function readTexts(body: string): string[] {
  try {
    return splitOutcomes(body);
  } catch (error) {
    if (error instanceof FaultSyntaxError) throw invalid('body', `${error.message}.`);
    throw error;
  }
}
