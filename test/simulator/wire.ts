import { Duplex } from 'node:stream';
import { type Actor, runAs } from './context.ts';

type Done = (error?: Error | null) => void;

// The machine's own function, since bytes do not move by a timer of the world.
const soon = setImmediate;

/** The most event loop turns that a network waits for disks, since a call to a disk may wait for the network. */
const MAX_TURNS = 2000;

/** One end of a connection within this process. Node's clients and servers accept it as a socket. */
export class Wire extends Duplex {
  readonly remoteAddress = '127.0.0.1';
  readonly remoteFamily = 'IPv4';
  readonly remotePort = 49_152;
  bytesRead = 0;
  bytesWritten = 0;
  /** The other end. */
  peer!: Wire;
  readonly #owner: Actor;
  #waiting: Done | undefined;
  #isReset = false;
  /** The method of the request under way. */
  #method = '';

  private constructor(owner: Actor, allowHalfOpen: boolean) {
    super({ allowHalfOpen, highWaterMark: 65_536 });
    this.#owner = owner;
  }

  /** Returns the two ends of a connection: the one that opens it, and the one that accepts it. */
  static pair(near: Actor, far: Actor): [near: Wire, far: Wire] {
    const one = new Wire(near, false);
    const other = new Wire(far, true);
    one.peer = other;
    other.peer = one;
    return [one, other];
  }

  /** Returns who opened the connection of which this socket is the far end. */
  static openerOf(socket: unknown): Actor | undefined {
    return socket instanceof Wire ? socket.peer.#owner : undefined;
  }

  /** Runs work as the owner of this end, a turn later and after calls to disks, which are faster than any network. */
  later(work: () => void): void {
    const { time } = this.#owner;
    let turns = 0;
    const attempt = (): void => {
      time.stir();
      if (time.isDiskHeld && (turns += 1) < MAX_TURNS) soon(attempt);
      else runAs(this.#owner, work);
    };
    time.stir();
    soon(attempt);
  }

  override _read(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) this.peer.later(waiting);
  }

  override _write(chunk: Buffer, _encoding: string, done: Done): void {
    let fate: 'live' | 'die' | undefined;
    try {
      this.#method = methodOf(chunk) ?? this.#method;
      fate = this.#owner.process?.step('wire', this.#method);
    } catch (error) {
      return done(error as Error);
    }
    this.bytesWritten += chunk.length;
    this.peer.later(() => this.peer.#take(chunk, () => done()));
    if (fate === 'die') this.#owner.process?.end();
  }

  override _writev(chunks: { chunk: Buffer }[], done: Done): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), '', done);
  }

  #take(chunk: Buffer, done: Done): void {
    if (this.destroyed || this.readableEnded) return this.peer.later(done);
    this.bytesRead += chunk.length;
    if (this.push(chunk)) this.peer.later(done);
    else this.#waiting = done;
  }

  override _final(done: Done): void {
    this.peer.later(() => this.peer.#end());
    done();
  }

  #end(): void {
    if (!this.destroyed && !this.readableEnded) this.push(null);
  }

  override _destroy(error: Error | null, done: Done): void {
    const { peer } = this;
    const isReset = this.#isReset;
    peer.later(() => {
      if (peer.destroyed) return;
      if (isReset) peer.destroy(connectionReset());
      else peer.#end();
    });
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) peer.later(waiting);
    done(error);
  }

  resetAndDestroy(): this {
    this.#isReset = true;
    return this.destroy();
  }

  destroySoon(): void {
    this.end(() => this.destroy());
  }

  setKeepAlive(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

function methodOf(chunk: Buffer): string | undefined {
  return /^(GET|HEAD|PUT|POST|DELETE) /.exec(chunk.toString('latin1', 0, 8))?.[1];
}

function connectionReset(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });
}
