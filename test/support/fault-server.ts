import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { onTestFinished } from 'vitest';
import { type Received, readRequests } from './request-reader.ts';

/** An action of the server on one request, or on one connection before the server reads from it. */
export interface Step {
  /** When the server acts: once it has accepted the connection, read the head of a request, or read a whole request. */
  readonly on: 'connection' | 'head' | 'request';
  act(socket: Socket, request: Received | undefined): void;
}

/** The steps in order, where the last one repeats; or a function that chooses a step for each request. */
export type Script = readonly Step[] | ((request: Received, index: number) => Step);

/** Starts a server that is closed when the test ends. `server` may be one that speaks TLS. */
export async function serve(script: Script, server?: Server): Promise<FaultServer> {
  const started = await FaultServer.start(script, server);
  onTestFinished(() => started.close());
  return started;
}

/** An HTTP server on loopback that does exactly what its script says, valid or not, and keeps a ledger. */
export class FaultServer {
  /** Every request whose head was read, in order. */
  readonly ledger: Received[] = [];
  /** Connections accepted so far. */
  connections = 0;
  /** The port, known also after the server was closed. */
  port = 0;
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  #script: Script;
  #taken = 0;

  private constructor(server: Server, script: Script) {
    this.#server = server;
    this.#script = script;
    // Over TLS, requests arrive on the secured connection only.
    const event = server instanceof TlsServer ? 'secureConnection' : 'connection';
    server.on(event, (socket: Socket) => this.#accept(socket));
  }

  /** Listens on a free port of this machine. `server` may be one that speaks TLS. */
  static async start(script: Script, server: Server = createServer()): Promise<FaultServer> {
    const faulty = new FaultServer(server, script);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    faulty.port = (server.address() as AddressInfo).port;
    return faulty;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${this.port}/`);
  }

  /** Connections that are open now. */
  get openConnections(): number {
    return this.#open.size;
  }

  /** Whole requests of this method that were received. */
  whole(method?: string): Received[] {
    return this.ledger.filter((entry) => entry.complete && (method === undefined || entry.method === method));
  }

  /** Starts over with another script and an empty ledger. */
  play(script: Script): void {
    this.#script = script;
    this.#taken = 0;
    this.ledger.length = 0;
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(socket: Socket): void {
    this.connections += 1;
    // A body waits for the acknowledgment of its head otherwise, which takes 40 ms.
    socket.setNoDelay(true);
    this.#open.add(socket);
    socket.on('close', () => this.#open.delete(socket)).on('error', () => undefined);
    const first = Array.isArray(this.#script) ? this.#peek() : undefined;
    if (first?.on === 'connection') {
      this.#taken += 1;
      first.act(socket, undefined);
      return;
    }
    readRequests(socket, { onHead: (request) => this.#begin(socket, request) });
  }

  #begin(socket: Socket, request: Received): (() => void) | undefined {
    const step = typeof this.#script === 'function' ? this.#script(request, this.#taken) : this.#peek();
    this.#taken += 1;
    this.ledger.push(request);
    if (step?.on !== 'request') {
      step?.act(socket, request);
      return undefined;
    }
    return () => step.act(socket, request);
  }

  #peek(): Step | undefined {
    if (typeof this.#script === 'function') return undefined;
    return this.#script[Math.min(this.#taken, this.#script.length - 1)];
  }
}
