import type { Context } from 'hono';
import { Hono } from 'hono/tiny';
import { bodyLimit } from 'hono/body-limit';
import type { SandboxEnv } from '../app.ts';
import type { Service } from '../service.ts';
import { showChallenge, submitChallenge } from '../three-ds/pages/challenge.ts';
import { collectMethod, notifyMethod, showMethod } from '../three-ds/pages/method.ts';
import { errorPage, failurePage, type Visit } from '../three-ds/pages/serve.ts';

/**
 * The pages of the card issuer's access control server, and the address that is notified of a completed method. They
 * need no key: their addresses carry what cannot be guessed.
 */
export function pageRoutes(service: Service): Hono<SandboxEnv> {
  const pages = new Hono<SandboxEnv>();
  const page = (handle: (visit: Visit) => Response | Promise<Response>) => (c: Context<SandboxEnv>) =>
    handle(visitOf(service, c));
  pages.get('/acs/challenge/:id/:token', page(showChallenge));
  pages.post('/acs/challenge/:id/:token', LIMIT_BODY, page(submitChallenge));
  pages.get('/acs/method/:id/:token', page(showMethod));
  pages.post('/acs/method/:id/:token', LIMIT_BODY, page(collectMethod));
  pages.post('/3ds/sessions/:id/method-notification', LIMIT_BODY, page(notifyMethod));
  pages.onError(errorPage);
  return pages;
}

const LIMIT_BODY = bodyLimit({ maxSize: 1_000_000, onError: () => failurePage(413) });

function visitOf(service: Service, c: Context<SandboxEnv>): Visit {
  const { id = '', token = '' } = c.req.param();
  const { remoteAddress = '' } = c.env;
  return { service, request: c.req.raw, remoteAddress, id, token, now: service.state.now() };
}
