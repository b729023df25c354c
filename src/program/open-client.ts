import type { Client } from '../api/client.ts';
import type { ClientChoice, Context } from '../cli/context.ts';
import type { Parts } from './context.ts';
import type { EmbeddedSandbox } from './embedded-sandbox.ts';

/** What opens clients for a command: the embedded sandbox, where one is meant, starts with the first of them. */
export function clientOpener(
  context: Context,
  { system, settings, readOnly }: Parts,
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
