import { showChallenge, submitChallenge } from '../three-ds/pages/challenge.ts';
import { collectMethod, notifyMethod, showMethod } from '../three-ds/pages/method.ts';
import type { Visit } from '../three-ds/pages/serve.ts';

/** A page for a browser. It needs no key: its address carries what cannot be guessed. */
export interface PageRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly summary: string;
  readonly handle: (visit: Visit) => void | Promise<void>;
}

/** The pages of the card issuer's access control server, and the address that hears of a completed method. */
export const PAGE_ROUTES: readonly PageRoute[] = [
  { method: 'GET', path: '/acs/challenge/:id/:token', summary: 'Show a challenge', handle: showChallenge },
  {
    method: 'POST',
    path: '/acs/challenge/:id/:token',
    summary: 'Answer a challenge',
    handle: submitChallenge,
  },
  { method: 'GET', path: '/acs/method/:id/:token', summary: 'Show the method page', handle: showMethod },
  {
    method: 'POST',
    path: '/acs/method/:id/:token',
    summary: 'Collect device details',
    handle: collectMethod,
  },
  {
    method: 'POST',
    path: '/3ds/sessions/:id/method-notification',
    summary: 'Notify that the method is completed',
    handle: notifyMethod,
  },
];
