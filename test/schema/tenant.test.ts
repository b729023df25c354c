import { describe, expect, it } from 'vitest';
import { tenantUpdateSchema } from '../../src/schema/tenant.ts';
import { authenticateSchema } from '../../src/schema/three-ds/authenticate.ts';
import { createSessionSchema } from '../../src/schema/three-ds/session.ts';
import { AUTHENTICATION_STATUSES, AUTHENTICATION_STATUS_CODES } from '../../src/schema/three-ds/values.ts';

const AUTHENTICATE = {
  authentication_category: 'payment',
  authentication_type: 'payment-transaction',
  requestor_info: { id: '1', name: 'shop', url: 'https://shop.example' },
  cardholder_info: { name: 'A', email: 'a@shop.example' },
};

/** Returns the paths of all violations, with dots between their members. */
function violations(schema: typeof authenticateSchema | typeof tenantUpdateSchema, body: unknown): string[] {
  return (schema.safeParse(body).error?.issues ?? []).map((issue) => issue.path.join('.'));
}

describe('tenant update', () => {
  it('tenant update sends settings as strings only, and lets unknown settings pass', () => {
    const body = { name: 'n', settings: { deduplicate_tokens: 'true', later: 'x' } };
    expect(tenantUpdateSchema.parse(body)).toEqual(body);
    expect(violations(tenantUpdateSchema, { name: 'n', settings: { deduplicate_tokens: true } })).toEqual([
      'settings.deduplicate_tokens',
    ]);
    expect(violations(tenantUpdateSchema, { name: 'n', settings: { later: 1 } })).toEqual(['settings.later']);
    expect(violations(tenantUpdateSchema, { name: 'n', settings: { token_deduplication_behavior: 'merge' } })).toEqual([
      'settings.token_deduplication_behavior',
    ]);
  });

  it('tenant update takes a name of 200 characters and refuses one of 201', () => {
    expect(violations(tenantUpdateSchema, { name: 'n'.repeat(200) })).toEqual([]);
    expect(violations(tenantUpdateSchema, { name: 'n'.repeat(201) })).toEqual(['name']);
    expect(violations(tenantUpdateSchema, {})).toEqual(['name']);
  });
});

describe('authenticate request', () => {
  it('authenticate request takes the smallest body that types and values allow', () => {
    expect(authenticateSchema.parse(AUTHENTICATE)).toEqual(AUTHENTICATE);
  });

  it('R57: authenticate request names every violation at once, by path', () => {
    const body = {
      ...AUTHENTICATE,
      authentication_type: 'gift',
      purchase_info: { amount: 1000 },
      cardholder_info: { name: 'A', account_info: { account_age: 'old' } },
      challenge_preference: 'none',
    };
    expect(violations(authenticateSchema, body).toSorted()).toEqual([
      'authentication_type',
      'cardholder_info.account_info.account_age',
      'cardholder_info.email',
      'challenge_preference',
      'purchase_info.amount',
    ]);
  });

  it('authenticate request refuses a misspelt member instead of dropping it', () => {
    expect(authenticateSchema.safeParse({ ...AUTHENTICATE, merchantInfo: {} }).success).toBe(false);
    expect(createSessionSchema.safeParse({ type: 'customer', tokenId: 'x' }).success).toBe(false);
    expect(createSessionSchema.safeParse({ type: 'browser', token_id: 'x' }).success).toBe(false);
  });
});

describe('known values', () => {
  it('the list of known values lists every authentication status that has a code', () => {
    expect([...AUTHENTICATION_STATUSES]).toEqual(Object.keys(AUTHENTICATION_STATUS_CODES));
  });
});
