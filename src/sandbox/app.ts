import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { Hono } from 'hono/tiny';
import { serveApi } from './serve-api.ts';
import { sendAnswer } from './answer.ts';
import { problem } from './problem.ts';
import type { Exchange } from './routes/route.ts';
import { STORE_ROUTES } from './routes/store.ts';
import { API_ROUTES } from './routes/table.ts';
import type { Service } from './service.ts';
import { sendRefusal, StoreRefusal } from './store/refusal.ts';

type Env = { Bindings: HttpBindings };

/** The service as an app, made from the tables of routes. Handlers answer on Node's own response. */
export function createApp(service: Service): Hono<Env> {
  const app = new Hono<Env>();
  for (const route of API_ROUTES)
    app.on(route.method, route.path, (context) =>
      answered(context, (exchange) => serveApi(service, route, context.req.param(), exchange)),
    );
  for (const route of STORE_ROUTES)
    app.on(route.method, route.path, (context) =>
      answered(context, (exchange) => refusing(exchange, () => route.handle(service, exchange))),
    );
  app.all('/store/*', (context) => answered(context, (exchange) => refusing(exchange, unsigned)));
  for (const path of new Set(API_ROUTES.map((route) => route.path)))
    app.all(path, (context) => answered(context, (exchange) => sendAnswer(exchange, methodNotAllowed(path))));
  app.notFound((context) =>
    answered(context, (exchange) =>
      sendAnswer(exchange, problem(404, 'Not Found', 'There is no such path.')),
    ),
  );
  return app;
}

async function answered(
  { env, req }: Context<Env>,
  serve: (exchange: Exchange) => void | Promise<void>,
): Promise<Response> {
  const { incoming, outgoing } = env;
  const query = new URL(req.url).searchParams;
  const requestId = String(outgoing.getHeader('x-request-id'));
  await serve({ incoming, outgoing, path: req.path, query, requestId });
  return RESPONSE_ALREADY_SENT;
}

function methodNotAllowed(path: string) {
  const allowed = API_ROUTES.filter((route) => route.path === path).map((route) => route.method);
  const answer = problem(405, 'Method Not Allowed', `Allowed here: ${allowed.join(', ')}.`);
  return { ...answer, headers: { ...answer.headers, allow: allowed.join(', ') } };
}

async function refusing(exchange: Exchange, serve: () => void | Promise<void>): Promise<void> {
  try {
    await serve();
  } catch (error) {
    if (exchange.outgoing.headersSent || exchange.outgoing.destroyed) exchange.outgoing.destroy();
    else sendRefusal(exchange, error instanceof StoreRefusal ? error : storeFailure());
  }
}

// An address is signed for one method: any other looks like an altered address.
function unsigned(): never {
  throw new StoreRefusal(403, 'SignatureDoesNotMatch', 'The signature does not match the request.');
}

function storeFailure(): StoreRefusal {
  return new StoreRefusal(500, 'InternalError', 'The sandbox failed. Please try again.');
}
