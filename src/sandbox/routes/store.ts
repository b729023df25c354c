import { getResult } from '../store/get-result.ts';
import { putRequest } from '../store/put-request.ts';
import type { StoreRoute } from './route.ts';

/** The pre-signed addresses of the store. */
export const STORE_ROUTES: readonly StoreRoute[] = [
  {
    method: 'PUT',
    path: '/store/requests/:object',
    summary: 'Upload a request file',
    handle: putRequest,
  },
  {
    method: 'GET',
    path: '/store/results/:object',
    summary: 'Download a result file',
    handle: getResult,
  },
];
