import { LONGEST_WAIT_MS } from '../../account-updater/wait.ts';
import { KNOWN_RATES } from '../../http/request.ts';
import { API_LIMITS, FILE_LIMITS, MAX_ATTEMPTS } from '../../http/retry.ts';
import { formatBytes, formatDuration, formatNumber } from '../../output/time.ts';
import {
  MAX_REQUEST_FILE_BYTES,
  MAX_REQUEST_FILE_ROWS,
  UPLOAD_LIFE_MS,
} from '../../schema/account-updater-files.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../schema/response.ts';
import { MAX_TENANT_NAME_LENGTH } from '../../schema/tenant.ts';
import { DEFAULT_MAX_WAIT_MS } from '../../system.ts';
import { RECEIVER_LIMITS } from '../../webhooks/address.ts';
import type { Page, Row } from '../help-page.ts';

/** `svc help limits` */
export function limits(): Page {
  return {
    title: 'Limits: of the service, and of svc itself',
    sections: [
      {
        title: 'Examples',
        examples: [
          ['svc sandbox cards --request | svc --sandbox au check -', 'is the file within the limits?'],
          ['svc --sandbox logs --limit 250 --max-wait 10m', 'be patient with a rate limit'],
        ],
      },
      {
        title: 'Of the service',
        rows: [
          ['page of a list', `${DEFAULT_PAGE_SIZE}, at most ${MAX_PAGE_SIZE} (--page-size)`],
          ['name of a tenant', `${MAX_TENANT_NAME_LENGTH} characters`],
          [
            'request file',
            `${formatBytes(MAX_REQUEST_FILE_BYTES)} or ${formatNumber(MAX_REQUEST_FILE_ROWS)} rows a job; 'au submit' makes several jobs of a larger one`,
          ],
          [
            'upload address',
            `${formatDuration(UPLOAD_LIFE_MS)} from the creation of its job, which then goes too`,
          ],
          ['production job', 'up to seven days'],
          ['logs', 'kept for the time of your retention quota; what nobody fetched by then is gone'],
        ],
      },
      {
        title: 'Rates that svc keeps under by itself (SVC_PACING=off does not)',
        rows: KNOWN_RATES.map(({ count, windowMs }, at): Row => [
          RATE_NAMES[at] ?? 'others',
          `${count} requests in ${formatDuration(windowMs)}, a little under what is known of the service`,
        ]),
      },
      {
        title: 'Of svc',
        rows: [
          [
            '--max-wait',
            `${formatDuration(DEFAULT_MAX_WAIT_MS)}: the longest pause that a rate limit may ask for`,
          ],
          ['attempts', `${MAX_ATTEMPTS} for what only reads; others again only when surely nothing was sent`],
          [
            'one request',
            `${formatDuration(API_LIMITS.connect)} to connect, ${formatDuration(API_LIMITS.headers)} to be answered; files ${formatDuration(FILE_LIMITS.idle)} without a byte`,
          ],
          ['waits', `${formatDuration(LONGEST_WAIT_MS)}, unless --timeout says less`],
          ['a webhook event', formatBytes(RECEIVER_LIMITS.body)],
        ],
      },
    ],
  };
}

// In the order of the rules, the narrowest first.
const RATE_NAMES = ['Account Updater', 'a management key', 'any key'] as const;
