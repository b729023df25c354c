import { type Claim, type Ending, type Entry, KEPT, type Machine, type Order } from './types.ts';
import type { World } from './world.ts';

/** The operator gives up claims that nothing can prove any more, after a question to the service's support. */
export function abandonUnpaid(world: World, machine: Machine, cycle: string): void {
  for (const claim of openClaims(machine.directory.disk.entries[`shared/${cycle}`] ?? [])) {
    const job = world.service.jobs.get(claim.job);
    if (job === undefined || world.now <= claim.created + KEPT || world.service.isPaid(job)) continue;
    world.free('shared', cycle, claim);
  }
}

/**
 * Now and then, the operator frees the rows of jobs that a command did not find, although the service may have their files.
 * From then on, their rows may be paid for twice, until a machine finds such a job and claims its rows again.
 */
export function abandonUnseen(world: World, { directory, ledger }: Machine, { cycle }: Order, { seen }: Ending): void {
  const place = ledger === 'shared' ? 'shared' : `local-${directory.name}`;
  if (!world.operator.happens(0.1) || world.store.objects.has(`${place}/moved`)) return;
  for (const claim of openClaims(directory.disk.entries[`${place}/${cycle}`] ?? []))
    if (seen.get(claim.job) === 'missing') world.free(place, cycle, claim);
}

/** Returns the claims that stand, and whose results nobody read. */
function openClaims(entries: readonly Entry[]): Claim[] {
  const open = new Map<string, Claim>();
  for (const entry of entries) {
    if (entry.kind === 'claim') open.set(entry.job, entry);
    else if ('job' in entry) open.delete(entry.job);
  }
  return [...open.values()];
}
