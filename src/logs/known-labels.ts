import type { Context } from '../cli/app/command.ts';
import type { ActorLabels } from './actor.ts';

/** Returns the names of actors that earlier commands read from the service of an archive, without a request. */
export async function knownLabels(
  { system, clock }: Pick<Context, 'system' | 'clock'>,
  { service, tenant_id: tenantId }: { readonly service: string; readonly tenant_id: string },
): Promise<ActorLabels> {
  const [{ knownApplications }, { labelsOf }] = await Promise.all([
    import('../cli/config/cache.ts'),
    import('./actor.ts'),
  ]);
  return labelsOf(knownApplications(system, { service, tenantId }, clock.now()).names);
}
