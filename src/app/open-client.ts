import path from 'node:path';
import type { Client } from '../api/client.ts';
import { requireDirectory } from '../config/paths.ts';
import { SvcError, systemCodeOf } from '../errors.ts';
import { makeDirectory } from '../files/directory.ts';
import { formatDuration } from '../output/time.ts';
import type { Interceptor } from '../sandbox/options.ts';
import type { Environment } from '../system.ts';
import type { ClientChoice, Context } from './command.ts';
import type { ContextDeps } from './create-context.ts';

/** What opens clients for a command: the embedded sandbox, where one is meant, starts with the first of them. */
export function clientOpener(
  context: Context,
  { system, settings, readOnly }: ContextDeps,
  sandbox: () => Promise<EmbeddedSandbox>,
): (choice: ClientChoice) => Promise<Client> {
  return async (choice) => {
    const { Client: ApiClient } = await import('../api/client.ts');
    const isEmbedded = settings.sandbox && settings.baseUrl === undefined && choice.baseUrl === undefined;
    const client = new ApiClient({
      baseUrl: isEmbedded ? (await sandbox()).url : (choice.baseUrl ?? settings.requireBaseUrl()),
      key: choice.key ?? context.key,
      signal: choice.signal ?? context.signal,
      clock: context.clock,
      maxWaitMs: settings.maxWaitMs.value,
      // The embedded sandbox is in this very process: no proxy leads to it, and nobody else uses its key.
      environment: isEmbedded ? {} : system.env,
      pacing: !isEmbedded && system.env['SVC_PACING'] !== 'off',
      trace: context.trace,
      readOnly,
      onSecret: context.globals.showUrls ? undefined : (value) => context.addSecret(value),
    });
    context.onClose(() => client.close());
    return client;
  };
}

/** A sandbox inside this process. */
export interface EmbeddedSandbox {
  readonly url: URL;
  /** The variables with which its buckets are reached. */
  readonly storeEnvironment: Environment;
}

/** Starts the sandbox inside this process, on a free loopback port, for as long as the command runs. */
export async function openSandbox(context: Context): Promise<EmbeddedSandbox> {
  const intercept = await faultsFrom(context.system.env['SVC_SANDBOX_FAULTS']);
  const { startSandbox } = await import('../sandbox/server.ts');
  const directory = sandboxDirectory(context);
  makeDirectory(directory);
  const sandbox = await startSandbox({ directory, port: 0, clock: context.clock, intercept }).catch(
    (error: unknown) => {
      throw sandboxFailure(directory, error);
    },
  );
  context.onClose(() => sandbox.close());
  reportClock(context, sandbox.clockOffset);
  const { accessKeyId, secretAccessKey, region } = sandbox.store;
  return {
    url: new URL(sandbox.url),
    storeEnvironment: {
      AWS_ENDPOINT_URL_S3: sandbox.url,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_SESSION_TOKEN: undefined,
      AWS_REGION: region,
    },
  };
}

// Whoever forgot that the clock was moved would take what follows from it for a bug.
function reportClock({ notices }: Context, offset: number): void {
  if (offset === 0) return;
  const direction = offset > 0 ? 'ahead' : 'behind';
  notices.note(
    `the sandbox's clock is ${formatDuration(Math.abs(offset))} ${direction}; reset it with 'svc sandbox clock --reset'`,
  );
}

async function faultsFrom(text: string | undefined): Promise<Interceptor | undefined> {
  if (text === undefined || text === '') return undefined;
  const { FaultSyntaxError } = await import('../sandbox/faults/fault.ts');
  const { readFaults } = await import('../sandbox/faults/fault.ts');
  const { faultInterceptor } = await import('../sandbox/faults/intercept.ts');
  try {
    const { faults, seed } = readFaults(text);
    return faultInterceptor(faults, seed);
  } catch (error) {
    if (!(error instanceof FaultSyntaxError)) throw error;
    throw new SvcError('usage', `SVC_SANDBOX_FAULTS: ${error.message}`, {
      hint: "See 'svc help faults'.",
    });
  }
}

/** Where the embedded sandbox keeps its state, so that a job of one command is there for the next. */
export function sandboxDirectory({ system }: Pick<Context, 'system'>): string {
  return path.join(requireDirectory(system, 'state'), 'sandbox');
}

/** The error for a sandbox that did not start; one of the system means that its directory cannot be used. */
function sandboxFailure(directory: string, error: unknown): unknown {
  const code = systemCodeOf(error);
  if (code === undefined || error instanceof SvcError) return error;
  return new SvcError('local', `the sandbox cannot keep its state in ${directory} (${code})`, {
    hint: 'Make the directory writable, or set SVC_STATE_DIR to one that is.',
    cause: error,
  });
}
