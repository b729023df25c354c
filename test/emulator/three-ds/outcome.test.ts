import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventOf, ForcedOutcome } from '../../../src/emulator/state/events.ts';
import type { Session } from '../../../src/emulator/state/world.ts';
import { MAX_ATTEMPTS, outcomeOf } from '../../../src/emulator/three-ds/outcome.ts';
import { type ScenarioName, SCENARIOS } from '../../../src/emulator/seed/test-cards.ts';
import { CHALLENGE_TYPES } from '../../../src/schema/three-ds/values.ts';

const ANSWERS: readonly EventOf<'3ds-challenge'>['answer'][] = [
  'right-code',
  'wrong-code',
  'approve',
  'decline',
  'cancel',
];
const OPEN = new Set(['challenge', 'decoupled_challenge']);

const scenario = fc.constantFrom(...(Object.keys(SCENARIOS) as ScenarioName[]));
const sessionType = fc.constantFrom('customer' as const, 'merchant' as const);
/** The cardholder's answers and the milliseconds before each, which may exceed the lifetime of a challenge. */
const history = fc.array(fc.tuple(fc.constantFrom(...ANSWERS), fc.integer({ min: 0, max: 400_000 })), { maxLength: 8 });

/** An outcome that was set, or undefined where the card decides. */
const forced = fc.option(
  fc.record(
    {
      status: fc.constantFrom('successful' as const, 'failed' as const, 'informational' as const),
      reason: fc.constantFrom('card-expired' as const, 'high-confidence' as const),
      challenge: fc.constantFrom(...CHALLENGE_TYPES),
      cancel: fc.constantFrom('error' as const, 'acs-timeout' as const),
    },
    { requiredKeys: [] },
  ),
  { nil: undefined },
);

interface Story {
  readonly session: Session;
  readonly authentication: EventOf<'3ds-authentication'>;
  /** The times of the answers, and one long after. */
  readonly times: readonly number[];
}

function story(
  name: ScenarioName,
  type: 'customer' | 'merchant',
  decoupled: boolean,
  steps: readonly (readonly [EventOf<'3ds-challenge'>['answer'], number])[],
  forced?: ForcedOutcome,
): Story {
  let at = 1000;
  const answers = steps.map(([answer, pause]): EventOf<'3ds-challenge'> => {
    at += pause;
    return { type: '3ds-challenge', at, session: 's', answer };
  });
  const created: Session['created'] = {
    type: '3ds-session',
    at: 0,
    nonce: 'n',
    application: 2,
    sessionType: type,
    named: 'token_id',
    token: 't',
    network: 'visa',
    lastFour: '0000',
    scenario: name,
  };
  const authentication: EventOf<'3ds-authentication'> = {
    type: '3ds-authentication',
    at: 1000,
    session: 's',
    application: 2,
    authenticationType: 'add-card',
    decoupled,
    shown: { merchant: 'm' },
    ...(forced && { forced }),
  };
  const times = [...answers.map((answer) => answer.at), 10 ** 7];
  return { session: { number: 1, id: 's', created, answers }, authentication, times };
}

/** Returns the session as it was after its first `count` answers. */
function upTo(session: Session, count: number): Session {
  return { ...session, answers: session.answers.slice(0, count) };
}

describe('an outcome, whatever a cardholder does and when', () => {
  it('an outcome never changes once it is there, and is there in the end', () => {
    fc.assert(
      fc.property(scenario, sessionType, fc.boolean(), history, forced, (name, type, decoupled, steps, outcome) => {
        const { session, authentication, times } = story(name, type, decoupled, steps, outcome);
        let settled: unknown;
        for (const [index, time] of times.entries())
          // The outcome is computed just before and just after each answer.
          for (const count of [index, index + 1]) {
            const outcome = outcomeOf(upTo(session, count), authentication, time);
            expect(outcome).toEqual(settled ?? outcome);
            if (!OPEN.has(outcome.status)) settled = outcome;
          }
        expect(settled).toBeDefined();
      }),
      { numRuns: 2000 },
    );
  });

  it('an outcome counts no more attempts than are allowed, and succeeds only where the scenario does', () => {
    fc.assert(
      fc.property(scenario, sessionType, fc.boolean(), history, (name, type, decoupled, steps) => {
        const { session, authentication } = story(name, type, decoupled, steps);
        const { status, challenge, cancelReason } = outcomeOf(session, authentication, 10 ** 7);
        expect(challenge?.attempts ?? 0).toBeLessThanOrEqual(MAX_ATTEMPTS);
        const good = status === 'successful' || status === 'attempted';
        expect(good ? status : SCENARIOS[name].ends).toBe(SCENARIOS[name].ends);
        expect(cancelReason === undefined || status === 'failed').toBe(true);
        const onPage = 'challenge' in SCENARIOS[name] && type === 'customer' && !decoupled;
        expect(challenge !== undefined && challenge.type !== 'decoupled').toBe(onPage);
      }),
      { numRuns: 2000 },
    );
  });
});
