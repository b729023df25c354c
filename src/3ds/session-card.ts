// Finds the card for a session: a token, or a test card of the sandbox.

import { isSvcError, SvcError } from '../base/errors.ts';
import type { Context } from '../cli/app/command.ts';
import { sandboxDirectory } from '../cli/app/embedded-sandbox.ts';
import { isEmbeddedSandbox } from '../cli/app/service.ts';
import { isLoopbackHost } from '../schema/address.ts';
import type { SessionCard } from '../schema/three-ds/session.ts';
import type { SandboxThreeDsCard } from '../emulator/vault/cards.ts';

/** Returns the test cards for 3-D Secure of a sandbox with this seed, or with the usual one. */
export async function threeDsCards(seed?: number): Promise<readonly SandboxThreeDsCard[]> {
  const { sandboxThreeDsCards } = await import('../emulator/vault/cards.ts');
  return sandboxThreeDsCards(seed);
}

/** The options that name a card, of which exactly one must be set. */
interface NamedCard {
  readonly card?: string | undefined;
  readonly token?: string | undefined;
  readonly token_intent?: string | undefined;
  /** The token, under its deprecated name. */
  readonly pan?: string | undefined;
}

/** Returns the card for the request that creates a session. @throws SvcError `usage` unless exactly one card is named */
export async function sessionCard(
  context: Context,
  { card, token, token_intent, pan }: NamedCard,
): Promise<SessionCard> {
  if ([card, token, token_intent, pan].filter((name) => name !== undefined).length !== 1)
    throw new SvcError('usage', 'exactly one of --card, --token and --token-intent is required', {
      hint: 'The test cards of the sandbox:',
      next: ['sandbox', 'cards', '--3ds'],
    });
  if (pan !== undefined) return { pan };
  if (token_intent !== undefined) return { token_intent_id: token_intent };
  return { token_id: token ?? (await tokenOfTestCard(context, card ?? '')) };
}

/** Returns the token of a test card of the sandbox. @throws SvcError `usage` at another service, or for an unknown card */
async function tokenOfTestCard(context: Context, card: string): Promise<string> {
  const hint = 'Give the id of the token of the test card: --token, or token in a suite.';
  requireSandbox(context, 'a card is a test card of the sandbox', hint);
  return findTestCard(await threeDsCards(await seedInUse(context)), card).token;
}

/** Returns the seed of the sandbox in use. A sandbox of another process has the usual seed, and its key names the tenant. */
async function seedInUse(context: Context): Promise<number> {
  if (isEmbeddedSandbox(context)) {
    const { seedIn } = await import('../emulator/state/state.ts');
    return seedIn(sandboxDirectory(context));
  }
  const { tenantOfKey } = await import('../emulator/keys.ts');
  const { DEFAULT_SEED, seedOf } = await import('../emulator/seed/logs.ts');
  return seedOf(DEFAULT_SEED, tenantOfKey(await keyInUse(context)));
}

/** Returns the private key; empty without a key, as in a preview. */
async function keyInUse(context: Context): Promise<string> {
  try {
    return (await context.key('private')).value;
  } catch (error) {
    if (!isSvcError(error, 'key_missing')) throw error;
    return '';
  }
}

/** Checks that the service may be a sandbox. @throws SvcError `usage` for a service on another machine */
export function requireSandbox({ settings: { sandbox, baseUrl } }: Context, what: string, hint?: string): void {
  if (sandbox || baseUrl === undefined || isLoopbackHost(baseUrl.value.hostname)) return;
  throw new SvcError('usage', `${what}, and this is another service`, { hint: hint ?? 'Add --sandbox.' });
}

/** Finds a card by its masked number, its last four digits or the beginning of its scenario. @throws SvcError `usage` for no card or several */
function findTestCard(cards: readonly SandboxThreeDsCard[], typed: string): SandboxThreeDsCard {
  const start = typed.toLowerCase();
  const byNumber = cards.find(({ number }) => number === typed);
  const byLastFour = /^\d{4}$/.test(typed) ? cards.filter(({ number }) => number.endsWith(typed)) : [];
  const begun = cards.filter(({ scenario }) => scenario.toLowerCase().startsWith(start));
  const names = [...new Set(begun.map(({ scenario }) => scenario))].toSorted((a, b) => a.length - b.length);
  const [first = '', ...others] = names;
  // The name of a scenario may be the beginning of other names.
  const isClear = names.length > 0 && others.every((name) => name.startsWith(first));
  const onlyCard = byLastFour.length === 1 ? byLastFour[0] : undefined;
  const card = byNumber ?? onlyCard ?? (isClear ? begun.find(({ scenario }) => scenario === first) : undefined);
  if (card !== undefined) return card;
  const problem =
    names.length === 0
      ? 'no test card has this scenario or number'
      : `several scenarios begin with this text: ${names.join('; ')}`;
  throw new SvcError('usage', problem, {
    hint: 'Give the name of a scenario, its beginning, a masked number from the list, or its last four digits.',
    next: ['sandbox', 'cards', '--3ds'],
  });
}
