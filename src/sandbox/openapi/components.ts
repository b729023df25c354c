import { accountUpdaterJobPageSchema, accountUpdaterJobSchema } from '../../schema/account-updater.ts';
import { applicationPageSchema } from '../../schema/application.ts';
import { cardTokenSchema, createCardTokenSchema } from '../../schema/card-token.ts';
import { entityTypeListSchema, entityTypeSchema } from '../../schema/entity-type.ts';
import { webhookDeliverySchema } from '../../schema/event.ts';
import { type JsonSchema, jsonSchemas } from '../../schema/json-schema.ts';
import { logPageSchema, logSchema } from '../../schema/log.ts';
import { problemSchema } from '../../schema/problem.ts';
import type { Shape } from '../../schema/shape.ts';
import { tenantSchema, tenantUpdateSchema } from '../../schema/tenant.ts';
import { authenticateSchema } from '../../schema/three-ds/authenticate.ts';
import { authenticationResultSchema, challengeResultSchema } from '../../schema/three-ds/authentication.ts';
import {
  createdSessionSchema,
  createSessionSchema,
  threeDsSessionSchema,
} from '../../schema/three-ds/session.ts';
import { usageReportSchema } from '../../schema/usage.ts';

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
