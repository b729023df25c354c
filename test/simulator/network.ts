import type { Server } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Actor, type Network, runAs } from './context.ts';
import { Wire } from './wire.ts';

const FIRST_PORT = 40_000;

/** A port that processes may try and where nobody listens. */
export const DEAF_PORT = 39_999;

/** The network of a world: servers of the world listen on it, and nothing else can be reached. */
export class WorldNetwork implements Network {
  readonly #servers = new Map<number, { readonly server: Server; readonly owner: Actor }>();
  readonly #onConnect: (wire: Wire, from: Actor) => void;
  /** The servers in the order of their start. */
  readonly servers: Server[] = [];
  /** Addresses outside this world that somebody tried to reach. */
  readonly strangers: string[] = [];
  /** Whether processes can reach the servers. */
  isUp = true;
  #ports = FIRST_PORT;

  constructor(onConnect: (wire: Wire, from: Actor) => void) {
    this.#onConnect = onConnect;
  }

  /** Makes a server listen on a new port. It accepts connections as `owner`. */
  listen(server: Server, owner: Actor): Server {
    const port = (this.#ports += 1);
    this.servers.push(server);
    this.#servers.set(port, { server, owner });
    server.address = () => ({ address: '127.0.0.1', family: 'IPv4', port });
    setImmediate(() => server.emit('listening'));
    return server;
  }

  connect({ port, host }: { readonly port: number | string; readonly host: string }, from: Actor): Duplex {
    const known = host === '127.0.0.1' || host === 'localhost' ? this.#servers.get(Number(port)) : undefined;
    if (known === undefined && Number(port) !== DEAF_PORT) this.strangers.push(`${host}:${port}`);
    const found = this.isUp || from.process === undefined ? known : undefined;
    const far: Actor = found?.owner ?? { ...from, process: undefined };
    const [wire, other] = Wire.pair(from, far);
    this.#onConnect(wire, from);
    wire.later(() => {
      if (wire.destroyed) return;
      if (found === undefined) return void wire.destroy(connectionRefused());
      runAs(far, () => found.server.emit('connection', other));
      wire.emit('connect');
    });
    return wire;
  }
}

function connectionRefused(): Error {
  return Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });
}
