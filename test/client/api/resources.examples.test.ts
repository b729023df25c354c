import { describe, expect, it } from 'vitest';
import {
  accountUpdaterJobSchema,
  listedJobPageSchema,
  webhookDeliverySchema,
} from '../../../src/schema/account-updater.ts';
import { jsonSchema } from '../../../src/schema/json-schema.ts';
import { entityTypeListSchema, logPageSchema } from '../../../src/schema/log.ts';
import { type Shape } from '../../../src/schema/response.ts';
import { tenantSchema, tenantUpdateSchema, usageReportSchema } from '../../../src/schema/tenant.ts';
import { authenticateSchema } from '../../../src/schema/three-ds/authenticate.ts';
import {
  authenticationResultSchema,
  challengeResultSchema,
  createdSessionSchema,
  createSessionSchema,
  threeDsSessionSchema,
} from '../../../src/schema/three-ds/session.ts';
import { INTERFACE_EXAMPLES, interfaceExample } from '../../support/interface.ts';

/** The shapes with which the client checks each response and each request body. */
const SHAPES: Readonly<Record<string, readonly [response: Shape, request?: Shape]>> = {
  '3ds-authenticate': [authenticationResultSchema, authenticateSchema],
  '3ds-challenge-result': [challengeResultSchema],
  '3ds-create': [createdSessionSchema, createSessionSchema],
  '3ds-read': [threeDsSessionSchema],
  'entity-types': [entityTypeListSchema],
  'job-create': [accountUpdaterJobSchema],
  'job-list': [listedJobPageSchema],
  'job-read': [accountUpdaterJobSchema],
  logs: [logPageSchema],
  'tenant-read': [tenantSchema],
  'tenant-update': [tenantSchema, tenantUpdateSchema],
  usage: [usageReportSchema],
  webhook: [webhookDeliverySchema],
};

type Schema = Readonly<Record<string, unknown>>;

/** Returns the paths of members that a JSON Schema does not name. */
function unnamed(schema: Schema, value: unknown, path = ''): string[] {
  const variants = (schema['anyOf'] as readonly Schema[] | undefined) ?? [schema];
  if (Array.isArray(value)) {
    const items = variants.find((variant) => variant['items'] !== undefined)?.['items'] as Schema | undefined;
    return items === undefined ? [] : value.flatMap((element) => unnamed(items, element, `${path}[]`));
  }
  if (typeof value !== 'object' || value === null) return [];
  const found = variants.find((variant) => variant['type'] === 'object');
  const properties = found?.['properties'] as Readonly<Record<string, Schema>> | undefined;
  // The schema describes a record, or an object that is kept unchanged.
  if (properties === undefined) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const next = properties[name];
    return next === undefined ? [`${path}.${name}`] : unnamed(next, member, `${path}.${name}`);
  });
}

describe('the examples of the interface', () => {
  it.each(Object.entries(SHAPES))(
    'the examples of the interface have the shape that the client expects: %s',
    (name, [response, request]) => {
      const example = interfaceExample(name);
      expect(response.parse(example.body)).toEqual(example.body);
      expect(unnamed(jsonSchema(response), example.body)).toEqual([]);
      expect(request?.parse(example.request)).toEqual(example.request);
    },
  );

  it('all have a shape but the applications, of which svc reads names only', () => {
    expect([...Object.keys(SHAPES), 'applications'].toSorted()).toEqual([...INTERFACE_EXAMPLES.keys()].toSorted());
  });
});
