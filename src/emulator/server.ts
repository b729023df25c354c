import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type App, createApp } from './app.ts';
import { keyOfTenant, MANAGEMENT_KEY, PRIVATE_KEY, SANDBOX_KEYS } from './keys.ts';
import { Ledger } from './ledger.ts';
import type { SandboxOptions } from './options.ts';
import { serviceRequest } from './request.ts';
import type { RunningSandbox, SandboxTenant } from './running-sandbox.ts';
import type { Service } from './service.ts';
import { prepareDirectory, statePaths } from './state/journal.ts';
import { openTenants, tenantOf } from './tenants.ts';
import { isWebhookAddress, Notifier } from './webhooks/notifier.ts';

const HOST = '127.0.0.1';

/** Starts the sandbox on a state directory. Throws if the directory contains other files. */
export async function startSandbox(options: SandboxOptions): Promise<RunningSandbox> {
  if (options.webhooks?.every(isWebhookAddress) === false)
    throw new Error('a webhook must be an http address on loopback');
  const paths = statePaths(options.directory);
  prepareDirectory(paths);
  const { clock = { now: Date.now } } = options;
  const ledger = new Ledger(paths.ledger, options.keepsRequests);
  let origin = '';
  const services = openTenants(
    options,
    () => clock.now(),
    () => origin,
  );
  for (const { files } of services) files.sweep(Date.now());
  const notified = options.webhooks?.length ? services : [];
  const notifiers = notified.map((service) => new Notifier(service, ledger, options));
  const server = serverFor(services, ledger, options);
  const close = async (): Promise<void> => {
    await stop(server);
    for (const notifier of notifiers) await notifier.close();
    for (const { processing, state } of services) {
      await processing.close();
      state.close();
    }
    ledger.close();
  };
  try {
    const port = await listen(server, options.port ?? 0);
    origin = `http://${HOST}:${port}`;
    return {
      url: origin,
      port,
      keys: SANDBOX_KEYS,
      tenants: services.map(tenantOfService),
      clockOffset: services[0]?.state.world.clockOffset ?? 0,
      ledger: () => ledger.entries(),
      close,
    };
  } catch (error) {
    // Without this, an open server would keep the process alive.
    await close();
    throw error;
  }
}

function tenantOfService({ tenant, state }: Service): SandboxTenant {
  const { start, tenantId } = state.world;
  const management_key = keyOfTenant(MANAGEMENT_KEY, tenant);
  return {
    id: tenantId,
    type: start.tenantType ?? 'test',
    management_key,
    private_key: keyOfTenant(PRIVATE_KEY, tenant),
  };
}

/** Creates the server that passes each request to the app of its tenant. */
function serverFor(services: readonly Service[], ledger: Ledger, { intercept, allowHosts }: SandboxOptions): Server {
  const apps = new Map(services.map((service) => [service, createApp(service, allowHosts)]));
  const receive = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    // A client that takes the sandbox for a proxy sends a whole address.
    incoming.url = incoming.url?.replace(/^https?:\/\/[^/?]*\/?/i, '/');
    // An interceptor may call `proceed` after it has ended the exchange.
    const proceed = (): void => {
      if (outgoing.headersSent || outgoing.destroyed) return;
      const key = incoming.headers['svc-api-key'];
      const service = tenantOf(services, key === undefined ? undefined : String(key), incoming.url ?? '');
      const app = service && apps.get(service);
      if (app !== undefined) void respond(app, ledger, incoming, outgoing).catch(() => outgoing.destroy());
    };
    try {
      for (const { state } of services) state.refresh();
      const now = services[0]?.state.now() ?? 0;
      outgoing.setHeader('date', new Date(now).toUTCString());
      outgoing.setHeader('x-request-id', randomUUID());
      ledger.watch(incoming, outgoing, now);
      if (intercept === undefined) proceed();
      else intercept(incoming, outgoing, proceed);
    } catch (error) {
      // A state directory that was removed, or a full disk, must not end the process.
      outgoing.statusCode = 500;
      outgoing.end(String(error));
    }
  };
  const server = createServer({ keepAliveTimeout: 30_000 });
  return server.on('request', receive).on('checkContinue', receive);
}

async function listen(server: Server, port: number): Promise<number> {
  await once(server.listen(port, HOST), 'listening');
  return (server.address() as AddressInfo).port;
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Files up to this length go out in one write. */
const WHOLE_BYTES = 256 * 1024;

/** Passes a request of Node's server to the app. Rejects if the exchange ends early. */
async function respond(app: App, ledger: Ledger, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { status, headers, body } = await app(serviceRequest(incoming, outgoing));
  ledger.noteStatus(outgoing, status);
  if (outgoing.destroyed) {
    if (body instanceof Readable) body.destroy();
    return;
  }
  outgoing.statusCode = status;
  for (const [name, text] of Object.entries(headers)) outgoing.setHeader(name, text);
  if (!(body instanceof Readable)) outgoing.end(body);
  else if (Number(headers['content-length']) <= WHOLE_BYTES) outgoing.end(Buffer.concat(await body.toArray()));
  else await pipeline(body, outgoing);
}
