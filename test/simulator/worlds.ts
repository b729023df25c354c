import crypto from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import net, { type AddressInfo, type Server } from 'node:net';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import { request } from 'undici';
import { type Actor, actor, runAs } from './context.ts';
import { guardDisk } from './disk.ts';
import { HOLD_IMPORT } from './held-imports.config.ts';
import { type Call, Replacements } from './replacements.ts';

/**
 * Replaces the machine's time, chance, network and disk with those of a world, for code that runs in it. Other code is
 * not affected. Returns a function that restores everything.
 */
export async function enterWorlds(): Promise<() => void> {
  await compileParser();
  const replacements = new Replacements();
  await guardDisk(replacements);
  const inWorld = (holder: object, name: string, work: (who: Actor, ...values: never[]) => unknown): void =>
    replacements.replace(holder, name, (real) => ownOrWorlds(real, work));
  for (const holder of [globalThis, timers]) {
    inWorld(holder, 'setTimeout', setWorldTimeout);
    replacements.replace(holder, 'clearTimeout', clearAnyTimeout);
  }
  inWorld(timersPromises, 'setTimeout', sleepInWorld);
  inWorld(AbortSignal, 'timeout', worldTimeLimit);
  inWorld(Math, 'random', ({ chance }) => chance.next());
  inWorld(crypto, 'randomBytes', ({ chance }, size: number) =>
    Buffer.from(Array.from({ length: size }, () => chance.between(0, 255))),
  );
  inWorld(crypto, 'randomUUID', ({ chance }) => {
    const digits = Array.from({ length: 30 }, () => chance.between(0, 15).toString(16)).join('');
    return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(12, 15)}-8${digits.slice(15, 18)}-${digits.slice(18, 30)}`;
  });
  for (const name of ['connect', 'createConnection'])
    inWorld(net, name, (who, to: { port: number; host: string }) => who.network.connect(to, who));
  replacements.replace(net.Server.prototype, 'listen', (real) => {
    return function (...values) {
      const who = actor();
      if (who === undefined) return Reflect.apply(real, this, values);
      const server = this as Server;
      const ready = values.at(-1);
      if (typeof ready === 'function') server.once('listening', ready as () => void);
      return who.network.listen(server, who);
    };
  });
  Object.assign(globalThis, { [HOLD_IMPORT]: holdImport });
  syncBuiltinESMExports();
  return () => {
    Reflect.deleteProperty(globalThis, HOLD_IMPORT);
    replacements.undo();
    syncBuiltinESMExports();
  };
}

// The HTTP client compiles its parser during its first exchange, and the time of a world would not wait for that.
async function compileParser(): Promise<void> {
  const server = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { body } = await request(`http://127.0.0.1:${port}/`, { reset: true });
  await body.dump();
  server.close();
}

/** Stops the time of the world until a module is loaded. */
function holdImport(load: () => Promise<unknown>): Promise<unknown> {
  const who = actor();
  return who === undefined ? load() : who.time.during(runAs(undefined, load));
}

function ownOrWorlds(real: Call, work: (who: Actor, ...values: never[]) => unknown): Call {
  return function (...values) {
    const who = actor();
    return who === undefined ? Reflect.apply(real, this, values) : work(who, ...(values as never[]));
  };
}

function setWorldTimeout(who: Actor, work: Call, ms?: number, ...values: unknown[]): WorldTimer {
  return new WorldTimer(who, () => Reflect.apply(work, undefined, values), ms);
}

function clearAnyTimeout(real: Call): Call {
  return function (...values) {
    const [timer] = values;
    if (timer instanceof WorldTimer) timer.close();
    else Reflect.apply(real, this, values);
  };
}

async function sleepInWorld(
  { time }: Actor,
  ms: number,
  value: unknown,
  options?: { signal?: AbortSignal },
): Promise<unknown> {
  await time.clock().sleep(ms, options?.signal);
  return value;
}

function worldTimeLimit(who: Actor, ms: number): AbortSignal {
  const controller = new AbortController();
  const end = (): void => controller.abort(new DOMException('the time is up', 'TimeoutError'));
  new WorldTimer(who, end, ms).unref();
  return controller.signal;
}

/** A timer in the time of a world. Its work runs as its owner, and never after the owner died. */
class WorldTimer {
  readonly #owner: Actor;
  readonly #work: () => unknown;
  readonly #ms: number;
  #timer: ReturnType<Actor['time']['after']>;

  constructor(owner: Actor, work: () => unknown, ms = 0) {
    this.#owner = owner;
    this.#work = work;
    this.#ms = ms;
    this.#timer = this.#start();
  }

  #start(): ReturnType<Actor['time']['after']> {
    return this.#owner.time.after(this.#ms, () => {
      if (this.#owner.process?.isDead !== true) runAs(this.#owner, this.#work);
    });
  }

  close(): void {
    this.#timer.cancel();
  }

  refresh(): this {
    this.#timer.cancel();
    this.#timer = this.#start();
    return this;
  }

  ref(): this {
    this.#timer.ref();
    return this;
  }

  unref(): this {
    this.#timer.unref();
    return this;
  }
}
