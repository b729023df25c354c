import { SvcError } from '../base/errors.ts';
import type { SandboxThreeDsCard } from '../emulator/vault/cards.ts';

/** The test cards of the sandbox for 3-D Secure; with a key, those of the tenant that it belongs to. */
export async function threeDsCards(key = ''): Promise<readonly SandboxThreeDsCard[]> {
  const { sandboxThreeDsCards } = await import('../emulator/vault/cards.ts');
  const { tenantOfKey } = await import('../emulator/keys.ts');
  const { DEFAULT_SEED, seedOf } = await import('../emulator/seed/logs.ts');
  return sandboxThreeDsCards(seedOf(DEFAULT_SEED, tenantOfKey(key)));
}

/** Finds a card by its masked number or the beginning of its scenario. @throws SvcError `usage` for none or several */
export function findTestCard(cards: readonly SandboxThreeDsCard[], wanted: string): SandboxThreeDsCard {
  const start = wanted.toLowerCase();
  const byNumber = cards.find(({ number }) => number === wanted);
  const begun = cards.filter(({ scenario }) => scenario.toLowerCase().startsWith(start));
  const names = [...new Set(begun.map(({ scenario }) => scenario))].toSorted((a, b) => a.length - b.length);
  const [first = '', ...others] = names;
  // The name of one scenario may be the beginning of another.
  const isClear = names.length > 0 && others.every((name) => name.startsWith(first));
  const found = byNumber ?? (isClear ? begun.find(({ scenario }) => scenario === first) : undefined);
  if (found !== undefined) return found;
  const which = names.length === 0 ? 'no test card has this scenario or number' : `several scenarios begin so`;
  throw new SvcError('usage', names.length === 0 ? which : `${which}: ${names.join('; ')}`, {
    hint: 'Give the name of a scenario, its beginning, or a masked number from the list.',
    next: ['sandbox', 'cards', '--3ds'],
  });
}
