import { withState } from '../state/state.ts';
import type { World } from '../state/world.ts';
import { authenticationsOf } from './forced-outcome.ts';

/**
 * Sets outcomes of 3-D Secure authentications for every sandbox on a state directory; with `clear`, removes earlier ones first.
 * Returns all set outcomes, each with the number of authentications that it matched.
 */
export function setOutcomes(directory: string, realNow: () => number, texts: readonly string[], clear = false) {
  return withState(directory, realNow, (state) => {
    if (clear) state.record({ type: 'outcomes-cleared', at: state.now() });
    if (texts.length > 0) state.record({ type: 'outcomes', at: state.now(), texts });
    return listOutcomes(state.world);
  });
}

/** Lists the set outcomes, in the order in which they are tried. */
export function listOutcomes(world: World) {
  return world.outcomes.map((set) => ({ outcome: set.text, matched: authenticationsOf(world, set) }));
}
