import { describe, expect, it } from 'vitest';
import { FaultSyntaxError } from '../../../src/emulator/faults/occasion.ts';
import { readOutcome, splitOutcomes } from '../../../src/emulator/three-ds/forced-outcome.ts';
import { OUTCOME_WORDS, outcomeExamples } from '../../../src/schema/three-ds/outcome-words.ts';
import { CHALLENGE_CANCEL_REASON_CODES, CHALLENGE_TYPES } from '../../../src/schema/three-ds/values.ts';
import {
  authenticated,
  FRICTIONLESS,
  MERCHANT_PAYMENT,
  PAYMENT,
  postForm,
  type Problem,
  setOutcomes,
  threeDsSandbox,
  tokenFor,
} from './three-ds-harness.ts';

describe('every value that the interface lists', () => {
  it('every value that the interface lists has a word of the sandbox', () => {
    const counts = Object.entries(OUTCOME_WORDS).map(([word, values]) => [word, values.length]);
    expect(Object.fromEntries(counts)).toEqual({
      status: 8,
      reason: 26,
      challenge: 4,
      cancel: 7,
      whitelist: 6,
      source: 3,
      mandated: 2,
    });
  });

  it.each(['successful', 'attempted', 'failed', 'unavailable', 'rejected', 'informational'] as const)(
    'the status %s can be produced with any card, and proves itself only where it should',
    async (status) => {
      const on = await threeDsSandbox({ outcomes: [`status=${status}`] });
      const { id } = await on.start('Internal 3DS Server Error');
      const result = await on.authenticated(id);
      expect(result.authentication_status).toBe(status);
      expect(result.authentication_value !== undefined).toBe(status === 'successful' || status === 'attempted');
    },
  );

  it.each(Object.entries(CHALLENGE_CANCEL_REASON_CODES))(
    'a challenge can be canceled with %s, by a reply or without one',
    async (reason, code) => {
      const on = await threeDsSandbox({ outcomes: [`cancel=${reason}`] });
      const canceled = {
        authentication_status: 'failed',
        challenge_cancel_reason: reason,
        challenge_cancel_reason_code: code,
      };
      const first = await on.challenged(FRICTIONLESS);
      expect((await on.result(first.id)).authentication_status).toBe('challenge');
      await postForm(first.page, { answer: 'code', code: '123456' });
      expect((await on.read(first.id)).authentication).toMatchObject(canceled);
      const second = await on.challenged(FRICTIONLESS);
      on.clock.ms += 5000;
      expect((await on.read(second.id)).authentication).toMatchObject(canceled);
    },
  );

  it.each(CHALLENGE_TYPES)('a challenge of type %s can be produced, and ends as requested', async (type) => {
    const on = await threeDsSandbox({ outcomes: [`challenge=${type},status=rejected,reason=stolen-card`] });
    const { id } = await on.start(FRICTIONLESS);
    const open = type === 'decoupled' ? 'decoupled_challenge' : 'challenge';
    expect((await on.authenticated(id)).authentication_status).toBe(open);
    const { acs_challenge_url: page } = await on.result(id);
    if (type === 'decoupled') on.clock.ms += 5000;
    else await postForm(page ?? '', { answer: 'approve', code: '123456' });
    expect((await on.read(id)).authentication).toMatchObject({
      authentication_challenge_type: type,
      authentication_status: 'rejected',
      authentication_status_reason: 'stolen-card',
      challenge_attempts: '1',
    });
  });

  it('a static challenge asks for a password', async () => {
    const on = await threeDsSandbox({ outcomes: ['challenge=static'] });
    const { page } = await on.challenged(FRICTIONLESS);
    const text = await (await fetch(page)).text();
    expect(text).toContain('Password of your card');
    expect(text).not.toContain('one-time-code');
  });

  it('message extensions that were sent come back in the session and the challenge result', async () => {
    const on = await threeDsSandbox();
    const sent = [{ id: 'A000000802', name: 'example', critical: true, data: 'anything' }, { id: 'second' }];
    const { id, message_extensions } = await authenticated(on, { ...PAYMENT, message_extensions: sent });
    expect(message_extensions).toEqual(sent);
    expect((await on.result(id)).message_extensions).toEqual(sent);
    expect((await authenticated(on)).message_extensions).toEqual([]);
  });

  it('a merchant session can be given the result of a decoupled challenge', async () => {
    const on = await threeDsSandbox({ outcomes: ['challenge=decoupled,reason=decoupled-authentication-timeout'] });
    const { id } = await on.start(FRICTIONLESS, 'merchant');
    expect((await on.authenticated(id, MERCHANT_PAYMENT)).authentication_status).toBe('decoupled_challenge');
    on.clock.ms += 5000;
    expect((await on.read(id)).authentication).toMatchObject({
      authentication_status: 'failed',
      authentication_status_reason: 'decoupled-authentication-timeout',
    });
  });
});

describe('the authentications to which an outcome applies', () => {
  it('an outcome applies to the next authentication only, where that is requested', async () => {
    const on = await threeDsSandbox({ outcomes: ['reason=card-expired:#2'] });
    const reasons = [];
    for (let count = 0; count < 3; count += 1) reasons.push((await authenticated(on)).authentication_status_reason);
    expect(reasons).toEqual([undefined, 'card-expired', undefined]);
  });

  it('an outcome counts authentications from the moment at which it was set, also across processes', async () => {
    const on = await threeDsSandbox();
    await authenticated(on);
    await setOutcomes(on, 'reason=card-expired:#1');
    const other = await threeDsSandbox({ directory: on.directory });
    expect((await authenticated(other)).authentication_status_reason).toBe('card-expired');
    expect((await authenticated(on)).authentication_status_reason).toBeUndefined();
  });

  it('an outcome applies to one card, named by its scenario, its token or its last four digits', async () => {
    for (const name of ['successful frictionless', tokenFor(FRICTIONLESS), '1471']) {
      const on = await threeDsSandbox({ outcomes: [`reason=card-expired@card ${name}`] });
      expect((await authenticated(on)).authentication_status_reason).toBe('card-expired');
      const { id } = await on.start('Authentication Rejected');
      await on.authenticated(id);
      expect((await on.read(id)).authentication.authentication_status_reason).toBe('suspected-fraud');
    }
  });

  it('an outcome applies to one session, and the one that was set last is tried first', async () => {
    const on = await threeDsSandbox();
    const [one, other] = [await on.start(FRICTIONLESS), await on.start(FRICTIONLESS)];
    await setOutcomes(on, 'reason=card-expired');
    const set = await setOutcomes(on, `reason=stolen-card@session ${one.id}`);
    expect(set.map(({ outcome }) => outcome)).toEqual([`reason=stolen-card@session ${one.id}`, 'reason=card-expired']);
    expect((await on.authenticated(one.id)).authentication_status).toBe('rejected');
    expect((await on.authenticated(other.id)).authentication_status).toBe('failed');
  });

  it('outcomes are listed with what they matched, and can be cleared', async () => {
    const on = await threeDsSandbox();
    await setOutcomes(on, JSON.stringify({ outcome: 'reason=card-expired' }));
    await authenticated(on);
    expect(await on.json('/sandbox/outcomes')).toEqual({ data: [{ outcome: 'reason=card-expired', matched: 1 }] });
    expect(await on.json('/sandbox/outcomes', { method: 'DELETE' })).toEqual({ data: [] });
    expect((await authenticated(on)).authentication_status).toBe('successful');
  });

  it('a refused request uses no outcome up', async () => {
    const on = await threeDsSandbox({ outcomes: ['reason=card-expired:#1'] });
    const { id } = await on.start(FRICTIONLESS);
    expect((await on.authenticate(id, {})).status).toBe(400);
    expect((await on.authenticated(id)).authentication_status).toBe('failed');
  });
});

describe('the syntax of outcomes', () => {
  it('every example of completion is an outcome', () => {
    for (const [example] of outcomeExamples()) expect(() => readOutcome(example)).not.toThrow();
  });

  it.each([
    ['', /expected an effect/],
    ['reason', /reason must be one of/],
    ['reason=canary', /reason must be one of card-authentication-failed/],
    ['constructor=canary', /expected status, reason/],
    ['eci=5', /expected status, reason/],
    ['reason=card-expired@canary', /expected card, session/],
    ['reason=card-expired@GET /logs', /expected card, session/],
    ['reason=card-expired@card 4111111111111111', /last four digits/],
    ['reason=card-expired:canary', /expected a probability/],
  ])('R05: %s is refused in words that do not repeat it', (text, words) => {
    expect(() => readOutcome(text)).toThrow(words);
    expect(() => readOutcome(text)).toThrow(FaultSyntaxError);
    expect(() => readOutcome(text)).not.toThrow(/canary|4111111/);
  });

  it('several outcomes are separated by semicolons and newlines, and the wrong one is named by its number', () => {
    expect(splitOutcomes('# a note\nreason=card-expired; eci=06\n')).toEqual(['reason=card-expired', 'eci=06']);
    expect(() => splitOutcomes('eci=06;reason=x')).toThrow(/^outcome 2: reason must be/);
  });

  it('a running sandbox refuses a malformed outcome with 400 and keeps those that were set', async () => {
    const on = await threeDsSandbox();
    const response = await on.call('/sandbox/outcomes', { method: 'POST', body: 'reason=x' });
    const { errors } = (await response.json()) as Problem;
    expect([response.status, errors?.['body']?.[0]]).toEqual([400, expect.stringMatching(/^outcome 1: reason must/)]);
    expect(await on.json('/sandbox/outcomes')).toEqual({ data: [] });
  });
});
