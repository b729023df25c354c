import { randomUUID } from 'node:crypto';
import { createSessionSchema } from '../../schema/three-ds/session.ts';
import type { SessionType } from '../../schema/three-ds/values.ts';
import { invalid, invalidFields, problem, ProblemError } from '../problem.ts';
import type { Call } from '../routes/route.ts';
import type { World } from '../state/world.ts';
import { findCard, findIntentCard, type Card } from '../vault/card.ts';
import type { SessionEvent } from './events.ts';
import { findNetwork } from './networks.ts';
import type { Session } from './sessions.ts';

/** Creates a session from a request's body. Throws a 400 that says what is wrong, a 422 for a foreign network. */
export async function createSession({ service, key, now, json }: Call): Promise<Session> {
  const { sessionType, named, token } = readBody(await json());
  const card = cardOf(service.state.world, named, token, now);
  if (findNetwork(card.network) === undefined)
    throw new ProblemError(
      problem(422, 'Unprocessable Content', "The card's network takes no part in 3-D Secure."),
    );
  const nonce = randomUUID();
  const { network, lastFour, scenario } = card;
  const { sessions } = service.state.record({
    type: '3ds-session',
    at: now,
    nonce,
    application: key.application,
    sessionType,
    named,
    token,
    network,
    lastFour,
    scenario,
  });
  const session = sessions.createdWith(nonce);
  if (session === undefined) throw new Error('the journal lost a session');
  return session;
}

type Named = SessionEvent['named'];

const NAMES: readonly Named[] = ['token_id', 'token_intent_id', 'pan'];

function readBody(body: unknown): { sessionType: SessionType; named: Named; token: string } {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalid('body', 'Must be an object.');
  const errors: Record<string, string[]> = {};
  const { type } = createSessionSchema.shape;
  const parsed = type.safeParse(Reflect.get(body, 'type'));
  if (!parsed.success) errors['type'] = [`Must be one of ${type.options.join(', ')}.`];
  const given = NAMES.filter((name) => (Reflect.get(body, name) ?? undefined) !== undefined);
  const [named = 'token_id'] = given;
  const token: unknown = Reflect.get(body, named);
  if (given.length === 0) errors['token_id'] = ['One of token_id and token_intent_id is required.'];
  else if (given.length > 1) errors[named] = ['Only one of token_id, token_intent_id and pan is allowed.'];
  else if (typeof token !== 'string') errors[named] = ['Must be a string.'];
  if (!parsed.success || typeof token !== 'string' || Object.keys(errors).length > 0)
    throw invalidFields(errors);
  return { sessionType: parsed.data, named, token };
}

function cardOf(world: World, named: Named, token: string, now: number): Card {
  const isIntent = named === 'token_intent_id';
  const card = isIntent ? findIntentCard(world, token) : findCard(world, token, now);
  if (card !== undefined) return card;
  throw invalid(named, `There is no such card token${isIntent ? ' intent' : ''}.`);
}
