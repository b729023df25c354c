import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../src/base/system.ts';
import { FaultServer, type Step } from '../../support/fault-server.ts';
import { hangUp, json, silence } from '../../support/fault-steps.ts';
import { bodyOf, type Received } from '../../support/request-reader.ts';
import { type HereOptions, type HereResult, svcIn } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

/** A request that reached the server. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** A server's reply to a call: a status and a JSON body, a broken connection, or silence. */
export type Reply = readonly [status: number, body: unknown] | 'torn' | 'silent';

/** A server that replies as scripted and records the calls. */
export class Scripted {
  readonly calls: Call[] = [];
  readonly #server: FaultServer;

  private constructor(server: FaultServer) {
    this.#server = server;
  }

  static async start(): Promise<Scripted> {
    return new Scripted(await FaultServer.start([json({}, 404)]));
  }

  get url(): string {
    return this.#server.url.origin;
  }

  /** Replaces the script and forgets the earlier calls. */
  play(reply: (call: Call, index: number) => Reply): void {
    this.calls.length = 0;
    this.#server.play(() => ({
      on: 'request',
      act: (socket, request) => {
        const call = callOf(request);
        stepOf(reply(call, this.calls.push(call) - 1)).act(socket, request);
      },
    }));
  }

  /** The calls in the form `POST /path`. */
  get lines(): string[] {
    return this.calls.map(({ method, path }) => `${method} ${path}`);
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}

function callOf(request: Received | undefined): Call {
  const { method = '', path = '', body = '' } = request ?? {};
  return { method, path, body: body === '' ? undefined : bodyOf(request) };
}

function stepOf(reply: Reply): Step {
  if (reply === 'silent') return silence('request');
  return reply === 'torn' ? hangUp() : json(reply[1], reply[0]);
}

/** The circumstances of a run of the tool inside the test process. */
export interface Run extends Pick<HereOptions, 'input' | 'clock' | 'signal' | 'env'> {
  readonly server?: Scripted;
}

/** A home directory for runs of the tool inside the test process. */
export class Place {
  readonly path = temporaryDirectory();

  /** Writes a file and returns its name. */
  file(name: string, content: unknown): string {
    const bytes = typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content);
    writeFileSync(join(this.path, name), bytes);
    return name;
  }

  /** Runs a command line inside the test process. */
  async svc(argv: readonly string[], { server, env, ...run }: Run = {}): Promise<HereResult> {
    const account = server && {
      SVC_BASE_URL: server.url,
      SVC_PRIVATE_API_KEY: 'key_canary_0123456789',
      SVC_PACING: 'off',
    };
    return svcIn(this.path, argv, { clock: systemClock, ...run, env: { ...account, ...env } });
  }
}
