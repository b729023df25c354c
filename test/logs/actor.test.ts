import { describe, expect, it } from 'vitest';
import { actorText, entityText, labelsOf, wholeActorText } from '../../src/logs/actor.ts';

const PERSON = 'a20690bc-f72e-4a86-aee3-7f01c4fb2237';
const NIGHTLY = '4707c78a-ef35-487e-a67c-cc101d1d4c49';
const TWIN = '4707c78b-ef35-487e-a67c-cc101d1d4c49';

describe('an actor for people', () => {
  it.each([
    [{ actor_type: 'user', actor_id: PERSON }, 'user a20690bc', `user ${PERSON}`],
    [{ actor_type: 'application', actor_id: NIGHTLY }, 'Nightly refresh', `Nightly refresh ${NIGHTLY}`],
    [{ actor_type: null, actor_id: PERSON }, 'a20690bc', PERSON],
    [{ actor_type: 'user', actor_id: 'jane@example.com' }, 'user jane@example.com', 'user jane@example.com'],
    [{ actor_type: 'user' }, 'user without an id', 'user without an id'],
    [{}, '', ''],
  ])('an actor %j is shown as "%s", or with its whole id', (actor, short, whole) => {
    const labels = labelsOf([[NIGHTLY, 'Nightly refresh']]);
    expect(actorText(actor, labels)).toBe(short);
    expect(wholeActorText(actor, labels)).toBe(whole);
  });

  it('names that two applications share, or that look like another actor, have the id of their own', () => {
    const labels = labelsOf([
      [NIGHTLY, 'Twin'],
      [TWIN, 'Twin'],
      [PERSON, 'user 0f2a9c4e'],
    ]);
    expect([...labels.values()]).toEqual(['Twin (4707c78a)', 'Twin (4707c78b)', 'user 0f2a9c4e (a20690bc)']);
  });

  it('the type of an entity is cut before its id is', () => {
    const text = entityText({ entity_type: 'account_updater_job', entity_id: PERSON });
    expect(text).toBe('account_updater… a20690bc');
    expect(entityText({ entity_type: 'tenant', entity_id: null })).toBe('tenant');
  });
});
