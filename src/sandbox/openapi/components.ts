import {
  accountUpdaterJobPageSchema,
  accountUpdaterJobSchema,
  webhookDeliverySchema,
} from '../../schema/account-updater.ts';
import { type JsonSchema, jsonSchemas } from '../../schema/json-schema.ts';
import { entityTypeListSchema, entityTypeSchema, logPageSchema, logSchema } from '../../schema/log.ts';
import { problemSchema, type Shape } from '../../schema/response.ts';
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
import examples from './examples.json' with { type: 'json' };

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

/** Request and response bodies with made-up values, by method and path of the endpoint. */
export const EXAMPLES: Readonly<Record<string, { readonly request?: unknown; readonly response?: unknown }>> = examples;
