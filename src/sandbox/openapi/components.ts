import {
  accountUpdaterJobPageSchema,
  accountUpdaterJobSchema,
  webhookDeliverySchema,
} from '../../schema/account-updater.ts';
import { entityTypeListSchema, entityTypeSchema, logPageSchema, logSchema } from '../../schema/log.ts';
import { type JsonSchema, jsonSchemas, problemSchema, type Shape } from '../../schema/response.ts';
import { tenantSchema, tenantUpdateSchema, usageReportSchema } from '../../schema/tenant.ts';
import { authenticateSchema } from '../../schema/three-ds/authenticate.ts';
import {
  authenticationResultSchema,
  challengeResultSchema,
  createdSessionSchema,
  createSessionSchema,
  threeDsSessionSchema,
} from '../../schema/three-ds/session.ts';
import { applicationPageSchema, cardTokenSchema, createCardTokenSchema } from '../../schema/vault.ts';
import { applicationId, cardToken, DEFAULT_SEED, ownerId, tenantId } from '../seed/entities.ts';

const SHAPES: Readonly<Record<string, Shape>> = {
  AccountUpdaterJob: accountUpdaterJobSchema,
  AccountUpdaterJobPage: accountUpdaterJobPageSchema,
  ApplicationPage: applicationPageSchema,
  AuthenticateRequest: authenticateSchema,
  AuthenticationResult: authenticationResultSchema,
  CardToken: cardTokenSchema,
  ChallengeResult: challengeResultSchema,
  CreateCardToken: createCardTokenSchema,
  CreateSession: createSessionSchema,
  CreatedSession: createdSessionSchema,
  EntityType: entityTypeSchema,
  EntityTypeList: entityTypeListSchema,
  Log: logSchema,
  LogPage: logPageSchema,
  Problem: problemSchema,
  Tenant: tenantSchema,
  TenantUpdate: tenantUpdateSchema,
  ThreeDsSession: threeDsSessionSchema,
  UsageReport: usageReportSchema,
  WebhookDelivery: webhookDeliverySchema,
};

/** The shapes that endpoints share, by name. */
export function componentSchemas(): Record<string, JsonSchema> {
  return jsonSchemas(SHAPES, addressOf);
}

/** A reference to the schema of a shape. Throws for a shape without a name. */
export function reference(shape: Shape): JsonSchema {
  const name = Object.entries(SHAPES).find(([, known]) => known === shape)?.[0];
  if (name === undefined) throw new Error('a shape of the table of routes has no name');
  return { $ref: addressOf(name) };
}

function addressOf(name: string): string {
  return `#/components/schemas/${name}`;
}

/** A body that an endpoint takes, and one that it answers. */
export interface Example {
  readonly request?: unknown;
  readonly response?: unknown;
}

const TENANT = tenantId(DEFAULT_SEED);
const JOB = 'b1f7c2de-3a54-4c1e-a9b0-5d2e8f6a7c10';
const SESSION = '0e9d8c7b-6a5f-4e3d-ac2b-1a0f9e8d7c6b';
const TIME = '2026-03-01T12:00:00.000Z';

const SETTINGS = { fingerprint_tokens: 'true', deduplicate_tokens: 'false' };

const PENDING = {
  id: JOB,
  tenant_id: TENANT,
  status: 'pending',
  created_by: applicationId(DEFAULT_SEED, 2),
  created_at: TIME,
  expires_at: '2026-03-01T13:00:00.000Z',
  upload_url: 'https://store.example/upload',
  errors: [],
};

const RESULT = {
  threeds_version: '2.2.0',
  authentication_value: 'AAECAwQFBgcICQoLDA0ODw==',
  authentication_status: 'successful',
  eci: '05',
};

/** Examples by method and path, as the table of routes has them. Their values are made up. */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  'GET /logs': {
    response: {
      pagination: { next: null, page_size: 20 },
      data: [
        {
          tenant_id: TENANT,
          actor_id: applicationId(DEFAULT_SEED, 1),
          actor_type: 'application',
          entity_type: 'tenant',
          entity_id: TENANT,
          operation: 'read',
          message: 'Tenant read',
          created_at: '2026-03-01T12:00:00Z',
        },
      ],
    },
  },
  'GET /logs/entity-types': { response: [{ display_name: 'Card', value: 'card' }] },
  'GET /tenants/self': { response: tenant('Sandbox') },
  'PUT /tenants/self': {
    request: { name: 'Billing', settings: SETTINGS },
    response: tenant('Billing'),
  },
  'GET /tenants/self/reports/usage': {
    response: {
      token_report: {
        metrics_by_type: { card: { count: 120, last_created_at: TIME } },
        included_monthly_active_tokens: 1000,
        monthly_active_tokens: 80,
      },
    },
  },
  'POST /3ds/sessions': {
    request: { token_id: cardToken(DEFAULT_SEED, 0), type: 'customer' },
    response: { id: SESSION, type: 'customer', card_brand: 'visa', recommended_version: '2.2.0' },
  },
  'POST /3ds/sessions/:id/authenticate': {
    request: {
      authentication_category: 'non-payment',
      authentication_type: 'add-card',
      requestor_info: { id: 'example-requestor', name: 'Example', url: 'https://merchant.example' },
      cardholder_info: { name: 'A Cardholder', email: 'cardholder@example.com' },
    },
    response: RESULT,
  },
  'GET /3ds/sessions/:id/challenge-result': {
    response: { ...RESULT, acs_challenge_mandated: 'N', authentication_challenge_type: 'dynamic' },
  },
  'POST /account-updater/jobs': { response: PENDING },
  'GET /account-updater/jobs/:id': { response: PENDING },
  'GET /account-updater/jobs': {
    response: { pagination: { next: null, page_size: 20 }, data: [PENDING] },
  },
};

/** An event as a webhook gets it. */
export const WEBHOOK_EXAMPLE = {
  event: {
    id: '5f0f3c1e-9d5a-4f7e-ab4c-2d1e0f9a8b7c',
    type: 'account-updater.job.completed',
    timestamp: TIME,
    tenant_id: TENANT,
    trace_id: '7c6b5a49-3827-4165-a4b3-c2d1e0f9a8b7',
    data: { job: { id: JOB, status: 'completed' } },
  },
  delivered_at: TIME,
};

function tenant(name: string): unknown {
  const owner = ownerId(DEFAULT_SEED);
  return {
    id: TENANT,
    owner_id: owner,
    type: 'test',
    name,
    settings: SETTINGS,
    created_by: owner,
    created_at: TIME,
  };
}
