import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  accountUpdaterJobSchema,
  listedJobPageSchema,
  webhookDeliverySchema,
} from '../../src/schema/account-updater.ts';
import { entityTypeListSchema, logPageSchema, logSchema } from '../../src/schema/log.ts';
import { tenantSchema } from '../../src/schema/tenant.ts';
import { authenticationResultSchema, threeDsSessionSchema } from '../../src/schema/three-ds/session.ts';
import { cases } from '../support/cases.ts';

const SAMPLES = [
  { schema: logSchema, needed: { created_at: '2026-11-20T10:00:00.1234567+00:00' } },
  { schema: tenantSchema, needed: { id: 't' } },
  { schema: accountUpdaterJobSchema, needed: { id: 'any string', status: 'paused' } },
  { schema: threeDsSessionSchema, needed: { id: 's' } },
  { schema: authenticationResultSchema, needed: { authentication_status: 'postponed' } },
  { schema: webhookDeliverySchema, needed: { event: { id: 'e', type: 'tenant.updated' } } },
  { schema: logPageSchema, needed: { data: [] } },
  { schema: listedJobPageSchema, needed: { data: [] } },
];

describe('answers', () => {
  it('R23: the schema of responses keeps every unknown member, and takes unknown values of known ones', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...SAMPLES),
        fc.dictionary(
          fc.string({ minLength: 1 }).map((name) => `later_${name}`),
          fc.jsonValue(),
        ),
        ({ schema, needed }, extra) => {
          const read = schema.parse({ ...needed, ...extra });
          expect(read).toEqual({ ...needed, ...extra });
        },
      ),
      { numRuns: cases(1000) },
    );
  });

  it('R23: the schema of responses names the needed field that is missing', () => {
    for (const { schema, needed } of SAMPLES) {
      for (const name of Object.keys(needed)) {
        const { [name]: _, ...rest } = needed as Record<string, unknown>;
        const result = schema.safeParse(rest);
        expect(result.error?.issues[0]?.path).toEqual([name]);
      }
    }
  });

  it('the schema of responses takes null and absence alike for what may be missing', () => {
    const job = { id: 'j', status: 'pending', upload_url: null, errors: null, expires_at: null };
    expect(accountUpdaterJobSchema.parse(job)).toEqual(job);
    for (const pagination of [null, undefined, {}, { next: null }, { next: '' }, { next: 'c', page_size: 2 }])
      expect(logPageSchema.safeParse({ data: [], pagination }).success).toBe(true);
  });

  it('the schema of responses reads plain lists', () => {
    expect(entityTypeListSchema.parse([{ value: 'card' }])).toEqual([{ value: 'card' }]);
    expect(entityTypeListSchema.safeParse({ data: [] }).success).toBe(false);
  });
});
