import { ACCOUNT_UPDATER_ROUTES } from './account-updater.ts';
import { LOG_ROUTES } from './logs.ts';
import type { ApiRoute } from './route.ts';
import { TENANT_ROUTES } from './tenant.ts';

/** Every endpoint of the API that the sandbox has. */
export const API_ROUTES: readonly ApiRoute[] = [...LOG_ROUTES, ...TENANT_ROUTES, ...ACCOUNT_UPDATER_ROUTES];
