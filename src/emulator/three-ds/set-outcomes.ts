import { FIRST_TENANT } from '../keys.ts';
import { furtherTenants } from '../state/journal.ts';
import { readState, type SandboxState, withState } from '../state/state.ts';
import type { World } from '../state/world.ts';
import { authenticationsOf } from './forced-outcome.ts';

/**
 * Sets outcomes of 3-D Secure authentications for each tenant of every sandbox on a state directory; with `clear`, removes
 * earlier ones first. Returns all set outcomes, each with its tenant and the number of authentications that it matched.
 */
export function setOutcomes(directory: string, realNow: () => number, texts: readonly string[], clear = false) {
  const set = (state: SandboxState) => {
    if (clear) state.record({ type: 'outcomes-cleared', at: state.now() });
    if (texts.length > 0) state.record({ type: 'outcomes', at: state.now(), texts });
    const { tenant = FIRST_TENANT } = state.world.start;
    return listOutcomes(state.world).map(({ outcome, matched }) => ({ outcome, matched, tenant }));
  };
  const setForEach = (first: SandboxState) => [
    ...set(first),
    ...furtherTenants(directory).flatMap((further) => readState(further, () => first.now(), set) ?? []),
  ];
  if (texts.length > 0) return withState(directory, realNow, setForEach);
  return readState(directory, realNow, setForEach) ?? [];
}

/** Lists the set outcomes, in the order in which they are tried. */
export function listOutcomes(world: World) {
  return world.outcomes.map((set) => ({ outcome: set.text, matched: authenticationsOf(world, set) }));
}
