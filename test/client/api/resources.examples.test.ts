import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  accountUpdaterJobPageSchema,
  accountUpdaterJobSchema,
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
import { applicationPageSchema } from '../../../src/schema/vault.ts';
import { FaultServer } from '../../support/fault-server.ts';
import { json } from '../../support/fault-steps.ts';
import { INTERFACE_EXAMPLES, interfaceExample, shapeOf } from '../../support/interface.ts';
import { svcHere } from '../../support/run-here.ts';

/** The shapes with which the client checks each response and each request body. */
const SHAPES: Readonly<Record<string, readonly [response: Shape, request?: Shape]>> = {
  '3ds-authenticate': [authenticationResultSchema, authenticateSchema],
  '3ds-challenge-result': [challengeResultSchema],
  '3ds-create': [createdSessionSchema, createSessionSchema],
  '3ds-read': [threeDsSessionSchema],
  applications: [applicationPageSchema],
  'entity-types': [entityTypeListSchema],
  'job-create': [accountUpdaterJobSchema],
  'job-list': [accountUpdaterJobPageSchema],
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

const BY_REQUEST = [...INTERFACE_EXAMPLES.values()];

const COMMANDS = [...INTERFACE_EXAMPLES].flatMap(([name, { command }]) =>
  command === undefined ? [] : [[name, command] as const],
);

const ID = '5f0c4b3a-2918-4706-95e4-d3c2b1a09f8e';

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

  it('all have a shape', () => {
    expect(Object.keys(SHAPES).toSorted()).toEqual([...INTERFACE_EXAMPLES.keys()].toSorted());
  });

  it.each(COMMANDS)('the examples of the interface are shown with every member: %s', async (name, command) => {
    const server = await FaultServer.start(({ method, path: target }) => {
      const path = target.split('?')[0]?.replace(ID, '{id}');
      const found = BY_REQUEST.find((other) => other.method === method && other.path === path);
      return json(found?.body ?? {}, found?.status ?? 404);
    });
    onTestFinished(() => server.close());
    const cwd = mkdtempSync(join(tmpdir(), 'svc-interface-'));
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
    const example = interfaceExample(name);
    writeFileSync(join(cwd, 'request.json'), JSON.stringify(example.request ?? {}));
    const argv = [...command.replace('{id}', ID).split(' '), '-o', 'json'];
    const { code, stdout, stderr } = await svcHere(argv, { baseUrl: server.url, cwd });
    expect([code, stderr.includes('rror')]).toEqual([0, false]);
    const [shown, expected] = [
      stdout,
      JSON.stringify(command.startsWith('api') ? example.body : listed(example.body)),
    ].map((text) => [...shapeOf(JSON.parse(text)).keys()].toSorted());
    expect(shown).toEqual(expect.arrayContaining(expected ?? []));
  });
});

/** Returns what a list shows of a body: the items of a page, or any other body unchanged. */
function listed(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'data' in body ? body.data : body;
}
