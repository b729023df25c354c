import { bodyLimit } from 'hono/body-limit';
import { Hono } from 'hono/tiny';
import { FaultSyntaxError } from '../faults/occasion.ts';
import { findKey } from '../keys.ts';
import { invalid, problem } from '../problem.ts';
import { jsonResponse } from '../response.ts';
import type { SandboxEnv, Service } from '../service.ts';
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
}: Service): Hono<SandboxEnv> {
  const control = new Hono<SandboxEnv>();
  control.get('/sandbox/key', (c) => {
    const key = findKey(c.req.header('svc-api-key'), tenant);
    if (key === undefined || key.expired || state.world.deleted) throw problem(401, 'The API key is not known.');
    const prefixes = without.map((feature) => `${feature}:`);
    const permissions = key.permissions.filter((name) => !prefixes.some((prefix) => name.startsWith(prefix)));
    return jsonResponse(200, { kind: key.kind, permissions, invents_results: acceptTokens });
  });
  const list = (): Response => jsonResponse(200, { data: listOutcomes(state.world) });
  control.get('/sandbox/outcomes', list);
  control.post('/sandbox/outcomes', bodyLimit({ maxSize: 100_000, onError: tooLarge }), async (c) => {
    const texts = readTexts(textIn(await c.req.text()));
    state.record({ type: 'outcomes', at: state.now(), texts });
    return list();
  });
  control.delete('/sandbox/outcomes', () => {
    state.record({ type: 'outcomes-cleared', at: state.now() });
    return list();
  });
  return control;
}

function tooLarge(): never {
  throw problem(413, 'The body is too large.');
}

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
