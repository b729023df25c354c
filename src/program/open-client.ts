import type { Client } from '../api/client.ts';
import type { ClientChoice, Context } from '../cli/context.ts';
import type * as Unsent from '../cli/unsent.ts';
import { KEY_KINDS } from '../config/document.ts';
import { keyOrigin } from '../config/keys.ts';
import type { Parts } from './context.ts';
import type { EmbeddedSandbox } from './embedded-sandbox.ts';

/** What opens clients for a command: the embedded sandbox, where one is meant, starts with the first of them. */
export function clientOpener(
  context: Context,
  { system, settings }: Parts,
  sandbox: () => Promise<EmbeddedSandbox>,
): (choice: ClientChoice) => Promise<Client> {
  return async ({ dryRun = false, file, ...choice }) => {
    const { Client: ApiClient } = await import('../api/client.ts');
    const isEmbedded = settings.sandbox && settings.baseUrl === undefined && choice.baseUrl === undefined;
    const holding = await holdingBack(context, dryRun);
    // Nothing at all is sent then, so that neither a sandbox nor a key is needed.
    const isOnlyShown = context.globals.curl && !dryRun;
    if (isOnlyShown) await hideKeys(context);
    const embedded = async (): Promise<URL> =>
      isOnlyShown && holding ? new URL(holding.SANDBOX_ADDRESS) : (await sandbox()).url;
    const client = new ApiClient({
      baseUrl: isEmbedded ? await embedded() : (choice.baseUrl ?? settings.requireBaseUrl()),
      key: isOnlyShown ? async () => ({ value: '', origin: 'nowhere' }) : (choice.key ?? context.key),
      signal: choice.signal ?? context.signal,
      clock: context.clock,
      maxWaitMs: settings.maxWaitMs.value,
      // The embedded sandbox is in this very process: no proxy leads to it, and nobody else uses its key.
      environment: isEmbedded ? {} : system.env,
      pacing: !isEmbedded && system.env['SVC_PACING'] !== 'off',
      trace: context.trace,
      admit: holding?.admission(context, { dryRun, file }),
    });
    context.onClose(() => client.close());
    return client;
  };
}

// What is shown may hold a key too. Those at hand are looked at for that alone; no command is run for one.
async function hideKeys({ system, settings, key }: Context): Promise<void> {
  for (const kind of KEY_KINDS) {
    const isAtHand =
      keyOrigin(system, settings, kind)?.kind === 'environment' ||
      settings.stored?.keys?.[kind]?.value !== undefined;
    if (isAtHand) await key(kind).catch(() => undefined);
  }
}

// Loaded only where something is to be shown in place of being sent.
async function holdingBack({ globals }: Context, dryRun: boolean): Promise<typeof Unsent | undefined> {
  return dryRun || globals.curl ? import('../cli/unsent.ts') : undefined;
}
