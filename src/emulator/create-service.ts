import { Processing } from './account-updater/processing.ts';
import { FIRST_TENANT } from './keys.ts';
import { RateLimits } from './limits.ts';
import type { SandboxOptions } from './options.ts';
import type { Service } from './service.ts';
import { statePaths } from './state/journal.ts';
import { type Origins, SandboxState } from './state/state.ts';
import { storeFiles } from './store/files.ts';

/** Creates the service of one tenant. `now` is the machine's clock, `origin` returns the address of the server. */
export function createService(
  options: SandboxOptions & Pick<Origins, 'tenant' | 'tenantType'>,
  now: () => number,
  origin: () => string,
): Service {
  const { tenant = FIRST_TENANT, seed, logCount, tenantType, jobIds } = options;
  const paths = statePaths(options.directory);
  const state = new SandboxState(paths, { seed, logCount, tenantType, tenant, jobIds }, now);
  const files = storeFiles(paths.files);
  const limits = options.limits === 'on' ? new RateLimits() : undefined;
  const processing = new Processing(state, files);
  const since = state.world.authenticated.length;
  const outcomes = (options.outcomes ?? []).map((text) => ({ text, since }));
  return { tenant, options, state, files, processing, limits, outcomes, origin };
}
