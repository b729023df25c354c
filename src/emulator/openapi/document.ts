import * as jobs from '../../schema/account-updater.ts';
import { type JsonSchema, jsonSchemas } from '../../schema/json-schema.ts';
import * as logs from '../../schema/log.ts';
import { problemSchema, type Shape } from '../../schema/response.ts';
import * as tenants from '../../schema/tenant.ts';
import { authenticateSchema } from '../../schema/three-ds/authenticate.ts';
import * as sessions from '../../schema/three-ds/session.ts';
import * as vault from '../../schema/vault.ts';
import { keyTypeOf } from '../keys.ts';
import { API_ROUTES } from '../routes/api.ts';
import type { ApiRoute } from '../service.ts';
import examples from './examples.json' with { type: 'json' };

type Json = Readonly<Record<string, unknown>>;

/** Describes the sandbox as an OpenAPI 3.1 document, generated from its routes. */
export function openApiDocument(): Json {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Card vault: logs, tenant, 3-D Secure, Account Updater',
      version: '1',
      description:
        'What the sandbox of svc emulates. x-permission is the permission that the key of a request needs, x-key-kind the kind of key. Responses can contain further members.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://127.0.0.1:4010', description: 'svc sandbox start' }],
    security: [{ apiKey: [] }],
    paths: allPaths(),
    webhooks: webhooks(),
    components: {
      schemas: jsonSchemas(SHAPES, addressOf),
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'SVC-API-KEY' } },
    },
  };
}

function allPaths(): Json {
  const paths = new Map<string, Record<string, Json>>();
  const add = (path: string, method: string, described: Json): void => {
    const template = templateOf(path);
    paths.set(template, { ...paths.get(template), [method.toLowerCase()]: described });
  };
  for (const route of API_ROUTES) add(route.path, route.method, operation(route));
  for (const route of STORE_ADDRESSES) add(route.path, route.method, storeOperation(route));
  return Object.fromEntries(paths);
}

function operation(route: ApiRoute): Json {
  const { method, path, summary, permission, request, status = 200 } = route;
  const parameters = [...pathParameters(path), ...(route.query ?? [])];
  const example = EXAMPLES[`${method} ${path}`];
  return {
    operationId: operationId(method, path),
    summary,
    'x-permission': permission,
    'x-key-kind': keyTypeOf(permission),
    ...(parameters.length > 0 && { parameters }),
    ...(request !== undefined && {
      requestBody: { required: true, content: { 'application/json': content(request, example?.request) } },
    }),
    responses: { [status]: success(route, example?.response), ...refusals(route) },
  };
}

function success({ response }: ApiRoute, example: unknown): Json {
  if (response === undefined) return { description: 'Done; no body.' };
  return { description: 'Done.', content: { 'application/json': content(response, example) } };
}

function refusals({ method, request, query, path, refusals: further = {} }: ApiRoute): Json {
  const takesInput = request !== undefined || query !== undefined;
  return {
    ...(takesInput && { 400: refusal('The request is invalid; see errors.') }),
    401: refusal('The key is missing or not known.'),
    403: refusal('The key lacks the permission or is of the wrong kind, or the feature is not enabled.'),
    ...(path.includes(':') && { 404: refusal('It does not exist, or no longer does.') }),
    ...((method === 'POST' || method === 'PUT') && { 413: refusal('The body is too large.') }),
    429: refusal('Too many requests; Retry-After may say how long to wait.'),
    ...Object.fromEntries(Object.entries(further).map(([status, description]) => [status, refusal(description)])),
  };
}

function refusal(description: string): Json {
  return { description, content: { 'application/problem+json': content(problemSchema) } };
}

function content(shape: Shape, example?: unknown): Json {
  return { schema: reference(shape), ...(example !== undefined && { example }) };
}

export const STORE_ADDRESSES = [
  {
    method: 'PUT',
    path: '/store/requests/:object',
    summary: 'Upload a request file',
    refusals: {
      400: 'The file is too large, its MD5 is another, or the request carries an Authorization header.',
      403: 'Not signed, altered, or expired.',
      411: 'The header Content-Length is missing.',
      412: 'The job has its file already.',
      501: 'The body is sent in chunks.',
    },
  },
  {
    method: 'GET',
    path: '/store/results/:object',
    summary: 'Download a result file',
    refusals: {
      400: 'The request carries an Authorization header.',
      403: 'Not signed, altered, or expired.',
      404: 'There is no such file.',
      412: 'If-Match names another version of the file.',
      416: 'The range lies outside the file.',
    },
  },
] as const;

function storeOperation({ method, path, summary, refusals: refused }: (typeof STORE_ADDRESSES)[number]): Json {
  const file = { 'text/csv': { schema: { type: 'string' } } };
  const parameters = ['expires', 'signature'].map((name) => ({
    name,
    in: 'query',
    required: true,
    schema: { type: 'string' },
  }));
  return {
    operationId: operationId(method, path),
    summary: `${summary}, at the pre-signed address that a job names`,
    security: [],
    parameters: [...pathParameters(path), ...parameters],
    ...(method === 'PUT' && { requestBody: { required: true, content: file } }),
    responses: {
      200: { description: 'Done.', ...(method === 'GET' && { content: file }) },
      ...(method === 'GET' && { 206: { description: 'The range that was requested.', content: file } }),
      ...Object.fromEntries(
        Object.entries(refused).map(([status, description]) => [
          status,
          { description, content: { 'application/xml': {} } },
        ]),
      ),
    },
  };
}

function webhooks(): Json {
  const names = [...jobs.EVENT_TYPES, 'tenant.updated', 'tenant.deleted'];
  const post = {
    security: [],
    requestBody: { content: { 'application/json': content(jobs.webhookDeliverySchema, EXAMPLES['webhook']?.request) } },
    responses: { '2XX': { description: 'Accepted. Anything else is retried.' } },
  };
  return Object.fromEntries(
    names.map((name) => [name, { post: { operationId: operationId('on', name), summary: name, ...post } }]),
  );
}

function pathParameters(path: string): Json[] {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
  return names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
}

function templateOf(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

function operationId(method: string, path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter(Boolean);
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

const SHAPES: Readonly<Record<string, Shape>> = {
  AccountUpdaterJob: jobs.accountUpdaterJobSchema,
  AccountUpdaterJobPage: jobs.accountUpdaterJobPageSchema,
  ApplicationPage: vault.applicationPageSchema,
  AuthenticateRequest: authenticateSchema,
  AuthenticationResult: sessions.authenticationResultSchema,
  CardToken: vault.cardTokenSchema,
  ChallengeResult: sessions.challengeResultSchema,
  CreateCardToken: vault.createCardTokenSchema,
  CreateSession: sessions.createSessionSchema,
  CreatedSession: sessions.createdSessionSchema,
  EntityType: logs.entityTypeSchema,
  EntityTypeList: logs.entityTypeListSchema,
  Log: logs.logSchema,
  LogPage: logs.logPageSchema,
  Problem: problemSchema,
  Tenant: tenants.tenantSchema,
  TenantUpdate: tenants.tenantUpdateSchema,
  ThreeDsSession: sessions.threeDsSessionSchema,
  UsageReport: tenants.usageReportSchema,
  WebhookDelivery: jobs.webhookDeliverySchema,
};

/** Returns a reference to the schema of a shape. Throws for a shape without a name. */
function reference(shape: Shape): JsonSchema {
  const name = Object.entries(SHAPES).find(([, known]) => known === shape)?.[0];
  if (name === undefined) throw new Error('a shape of the table of routes has no name');
  return { $ref: addressOf(name) };
}

function addressOf(name: string): string {
  return `#/components/schemas/${name}`;
}

/** Request and response bodies with made-up values, by method and path of the endpoint. */
export const EXAMPLES: Readonly<Record<string, { readonly request?: unknown; readonly response?: unknown }>> = examples;
