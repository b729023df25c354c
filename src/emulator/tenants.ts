import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_TENANTS } from '../schema/sandbox.ts';
import { UUID_FORM } from '../schema/uuid.ts';
import { Processing } from './account-updater/processing.ts';
import { FIRST_TENANT, tenantOfKey } from './keys.ts';
import { RateLimits } from './limits.ts';
import type { SandboxOptions } from './options.ts';
import { seedOf } from './seed/logs.ts';
import type { Service } from './service.ts';
import { furtherTenants, startIn, statePaths } from './state/journal.ts';
import { type Origins, SandboxState } from './state/state.ts';
import { storeFiles } from './store/files.ts';

/**
 * Opens the tenants of a state directory, including tenants of earlier starts. Each tenant has its own data in its own
 * directory. All share the clock of the first tenant.
 */
export function openTenants(options: SandboxOptions, now: () => number, origin: () => string): Service[] {
  const [firstType, ...types] = options.tenants ?? [];
  const first = createService({ ...options, tenantType: firstType }, now, origin);
  const { tenants } = statePaths(options.directory);
  const known = furtherTenants(options.directory).length;
  const count = Math.min(Math.max(known, types.length), MAX_TENANTS - 1);
  const further = Array.from({ length: count }, (_, index) => {
    const tenant = FIRST_TENANT + 1 + index;
    const directory = join(tenants, String(tenant));
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const { start } = first.state.world;
    const seed = seedOf(start.seed, tenant);
    const jobIds = options.jobIds ?? (startIn(directory) === undefined ? start.jobIds : undefined);
    return createService(
      { ...options, directory, seed, jobIds, tenantType: types[index], tenant },
      () => first.state.now(),
      origin,
    );
  });
  return [first, ...further];
}

/** Creates the service of one tenant. `now` is the machine's clock, `origin` returns the address of the server. */
function createService(
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

/** Finds the tenant of a request: the owner of the key, else of an id in the path, else the first tenant. */
export function tenantOf(services: readonly Service[], key: string | undefined, path: string): Service | undefined {
  const ofKey = key === undefined ? undefined : services.find(({ tenant }) => tenant === tenantOfKey(key));
  return ofKey ?? services.find((service) => idsIn(path).some((id) => owns(service, id))) ?? services[0];
}

const IDS = new RegExp(`${UUID_FORM}|job_[0-9A-F]{26}`, 'g');

function idsIn(path: string): string[] {
  return path.match(IDS) ?? [];
}

function owns({ state }: Service, id: string): boolean {
  const { jobs, sessions } = state.world;
  return jobs.find(id) !== undefined || sessions.find(id) !== undefined;
}
