import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { type Received, readRequests } from './request-reader.ts';

/** How the proxy treats a CONNECT. */
export type ProxyManner =
  | 'open'
  | 'silent'
  | 'hang-up'
  | 'reset'
  | 'garbage'
  | 'silent-tunnel'
  | { readonly status: number; readonly headers?: string };

/** A proxy that only supports CONNECT. Every tunnel leads to one port of this machine, whatever host was requested. */
export class ConnectProxy {
  /** Every request, in order. The path of a tunnel is the requested host and port. */
  readonly ledger: Received[] = [];
  /** Tunnels opened so far. */
  tunnels = 0;
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(manner: ProxyManner, targetPort = 0, server: Server = createServer()): Promise<ConnectProxy> {
    const proxy = new ConnectProxy(server);
    const event = server instanceof TlsServer ? 'secureConnection' : 'connection';
    server.on(event, (socket: Socket) => proxy.#accept(socket, manner, targetPort));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get openConnections(): number {
    return this.#open.size;
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(socket: Socket, manner: ProxyManner, targetPort: number): void {
    this.#keep(socket);
    readRequests(socket, {
      onHead: (request) => {
        this.ledger.push(request);
        return () => this.#treat(socket, manner, targetPort);
      },
    });
  }

  #treat(socket: Socket, manner: ProxyManner, targetPort: number): void {
    if (typeof manner === 'object') {
      socket.end(`HTTP/1.1 ${manner.status} Words\r\n${manner.headers ?? ''}content-length: 0\r\n\r\n`);
    } else if (manner === 'hang-up') socket.end();
    else if (manner === 'reset') socket.resetAndDestroy();
    else if (manner === 'garbage') socket.end('SSH-2.0-OpenSSH_9.2\r\n');
    else if (manner === 'silent-tunnel') socket.write('HTTP/1.1 200 Tunnel\r\n\r\n');
    else if (manner === 'open') this.#tunnel(socket, targetPort);
  }

  #tunnel(socket: Socket, targetPort: number): void {
    this.tunnels += 1;
    const target = connect(targetPort, '127.0.0.1', () => {
      socket.removeAllListeners('data');
      socket.write('HTTP/1.1 200 Tunnel\r\n\r\n');
      socket.pipe(target).pipe(socket);
    });
    this.#keep(target);
    target.on('close', () => socket.destroy());
    socket.on('close', () => target.destroy());
  }

  #keep(socket: Socket): void {
    this.#open.add(socket);
    socket.on('close', () => this.#open.delete(socket)).on('error', () => undefined);
  }
}
