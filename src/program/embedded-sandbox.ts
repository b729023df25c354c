import type { Context } from '../cli/context.ts';
import { sandboxDirectory, sandboxFailure } from '../cli/sandbox-directory.ts';
import { SvcError } from '../errors.ts';
import { makeDirectory } from '../files/directory.ts';
import type { Interceptor } from '../sandbox/options.ts';
import type { Environment } from '../system.ts';

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

async function faultsFrom(text: string | undefined): Promise<Interceptor | undefined> {
  if (text === undefined || text === '') return undefined;
  const { FaultSyntaxError } = await import('../sandbox/faults/fault.ts');
  const { readFaultLine } = await import('../sandbox/faults/read-scenario.ts');
  const { faultInterceptor } = await import('../sandbox/faults/intercept.ts');
  try {
    const { faults, seed } = readFaultLine(text);
    return faultInterceptor(faults, seed);
  } catch (error) {
    if (!(error instanceof FaultSyntaxError)) throw error;
    throw new SvcError('usage', `SVC_SANDBOX_FAULTS: each fault ${error.message}`, {
      hint: "See 'svc sandbox start --help' for the grammar; put a semicolon between two faults.",
    });
  }
}
