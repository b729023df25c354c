import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { keyTypeOf } from '../../../src/emulator/keys.ts';
import { EXAMPLES, openApiDocument, STORE_ADDRESSES } from '../../../src/emulator/openapi/document.ts';
import { API_ROUTES } from '../../../src/emulator/routes/api.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { TEST_CARDS } from '../../../src/emulator/seed/test-cards.ts';
import { MANAGEMENT, PRIVATE, sandbox } from '../harness.ts';

interface Content {
  readonly schema?: { readonly $ref?: string };
  readonly example?: unknown;
}

interface Body {
  readonly description?: string;
  readonly content?: Readonly<Record<string, Content>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
  readonly security?: readonly unknown[];
  readonly 'x-permission'?: string;
}

interface Document {
  readonly openapi: string;
  readonly info: Readonly<Record<string, unknown>>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
}

const document = JSON.parse(JSON.stringify(openApiDocument())) as Document;
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema({ $id: 'https://document.example/', components: document.components });

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, path, method, operation })),
);

const jsonContents = [
  ...operations.map(({ operation }) => operation),
  ...Object.values(document.webhooks).map(({ post }) => post),
]
  .flatMap(({ operationId, requestBody, responses }) =>
    [requestBody, ...Object.values(responses)].map((body) => ({ operationId, body })),
  )
  .flatMap(({ operationId, body }) =>
    Object.entries(body?.content ?? {})
      .filter(([type]) => type.includes('json'))
      .map(([, content]) => ({ operationId, content })),
  );

// The document shows no card number as an example, not even of a test card.
const TOKEN = { type: 'card', data: { number: TEST_CARDS[0]?.number, expiration_month: 12, expiration_year: 2030 } };

function checker({ schema }: Content): ValidateFunction {
  return ajv.compile({ $ref: `https://document.example/${schema?.$ref ?? 'missing'}` });
}

function named(name: string): ValidateFunction {
  return checker({ schema: { $ref: `#/components/schemas/${name}` } });
}

it('the OpenAPI document has every endpoint of the table and of the store, and no other', () => {
  const expected = [...API_ROUTES, ...STORE_ADDRESSES].map(
    ({ method, path }) => `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`,
  );
  expect(operations.map(({ name }) => name).toSorted()).toEqual(expected.toSorted());
  expect(document.openapi).toMatch(/^3\.1\.\d$/);
  for (const member of ['title', 'version']) expect(document.info[member]).toMatch(/./);
});

it('the OpenAPI document names for each the permission, every part of its path, an id of its own and answers', () => {
  expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
  for (const { name, path, operation } of operations) {
    const parts = [...path.matchAll(/\{(\w+)\}/g)].map(([, part]) => part);
    const named = operation.parameters?.filter((parameter) => parameter.in === 'path') ?? [];
    expect([name, named.map((parameter) => parameter.name)]).toEqual([name, parts]);
    expect(named.every((parameter) => parameter.required)).toBe(true);
    expect(Object.keys(operation.responses).some((status) => status.startsWith('2'))).toBe(true);
    for (const response of Object.values(operation.responses)) expect(response.description).toMatch(/\.$/);
    expect([name, operation.security?.length]).toEqual([name, path.startsWith('/store/') ? 0 : undefined]);
  }
  for (const { method, path, permission } of API_ROUTES) {
    const template = path.replaceAll(/:(\w+)/g, '{$1}');
    expect(document.paths[template]?.[method.toLowerCase()]?.['x-permission']).toBe(permission);
  }
});

it('the OpenAPI document refers only to schemas that it has, and each of them is a JSON Schema', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target);
  expect(references.length).toBeGreaterThan(30);
  const known = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
  expect(references.filter((target) => !known.includes(target ?? ''))).toEqual([]);
  expect(known.filter((target) => !references.includes(target))).toEqual([]);
  for (const { content } of jsonContents) expect(checker(content)).toBeTypeOf('function');
  expect(JSON.stringify(document)).not.toMatch(/"\$(schema|id)"/);
});

it('the OpenAPI document has examples that are right by its own schemas', () => {
  const examples = jsonContents.filter(({ content }) => content.example !== undefined);
  expect(examples.length).toBeGreaterThan(15);
  for (const { operationId, content } of examples) {
    const check = checker(content);
    check(content.example);
    expect([operationId, check.errors]).toEqual([operationId, null]);
  }
});

it('the OpenAPI document has schemas that refuse what is wrong', () => {
  expect(named('TenantUpdate')({ name: 'x'.repeat(201) })).toBe(false);
  expect(named('TenantUpdate')({ name: 'x', settings: { fingerprint_tokens: true } })).toBe(false);
  expect(named('AuthenticateRequest')({})).toBe(false);
  expect(named('LogPage')({ data: [{}] })).toBe(false);
});

it('the OpenAPI document describes what the sandbox answers, and has request examples that it takes', async () => {
  const on = await sandbox({ processingMs: 0 });
  const job = await on.process(exampleRequestFile());
  let session = '';
  const called = API_ROUTES.filter(({ method }) => method !== 'DELETE');
  const statuses: unknown[] = [];
  for (const { method, path, permission, status = 200 } of called) {
    const kind = keyTypeOf(permission);
    const id = path.startsWith('/3ds') ? session : job.id;
    const request = path === '/tokens' ? TOKEN : EXAMPLES[`${method} ${path}`]?.request;
    const answer = await on.call(path.replace(':id', id), {
      method,
      headers: kind === 'management' ? MANAGEMENT : PRIVATE,
      body: request === undefined ? null : JSON.stringify(request),
    });
    const body = (await answer.json()) as { id?: string };
    if (path === '/3ds/sessions') session = body.id ?? '';
    statuses.push([method, path, answer.status, status]);
    const operation = document.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
    const check = checker(operation?.responses[answer.status]?.content?.['application/json'] ?? {});
    check(body);
    expect([path, check.errors]).toEqual([path, null]);
  }
  expect(statuses).toEqual(called.map(({ method, path, status = 200 }) => [method, path, status, status]));
});
