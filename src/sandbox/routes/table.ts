import { ACCOUNT_UPDATER_ROUTES } from './account-updater.ts';
import { APPLICATION_ROUTES } from './applications.ts';
import { LOG_ROUTES } from './logs.ts';
import type { ApiRoute } from './route.ts';
import { TENANT_ROUTES } from './tenant.ts';
import { THREE_DS_ROUTES } from './three-ds.ts';
import { TOKEN_ROUTES } from './tokens.ts';

/** Every endpoint of the API that the sandbox has. */
export const API_ROUTES: readonly ApiRoute[] = [
  ...LOG_ROUTES,
  ...TENANT_ROUTES,
  ...APPLICATION_ROUTES,
  ...TOKEN_ROUTES,
  ...THREE_DS_ROUTES,
  ...ACCOUNT_UPDATER_ROUTES,
];
