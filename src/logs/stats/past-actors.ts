import type { Context } from '../../cli/app/command.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { checkSubject, readManifest } from '../archive/manifest.ts';
import { countEntries, openArchive } from '../archive/open-archive.ts';
import { PAST_DAYS, pastOf } from '../review/review.ts';
import { SeenValues } from '../review/seen-values.ts';

/** The actors of an archive in the 30 days before a shift, with which those of the shift are compared. */
export interface PastActors {
  readonly seen: SeenValues;
  /** How many of the days are archived, and whether these are enough. */
  readonly days: number;
  readonly isLong: boolean;
  /** Fails if the entries of the shift are of another tenant. @throws SvcError `config` */
  readonly checkTenant: (tenantId: string | undefined) => void;
}

/** Reads who acted before a shift. @throws SvcError as `readManifest`, `config` for an archive of another service */
export async function readPastActors(context: Context, dir: string, since: number): Promise<PastActors> {
  const store = await openArchive(context, dir);
  const bounds = { since: since - PAST_DAYS * DAY_MS, until: since };
  const manifest = await readManifest(store, bounds);
  checkSubject(store, manifest, { service: serviceOf(context) });
  const seen = new SeenValues('actor');
  const { segments, coverage } = manifest;
  const reading = { dir, label: 'archive', store, segments, ...bounds };
  await countEntries(context, { ...reading, onGroup: (log, bucket) => seen.add(log, bucket, false) });
  const checkTenant = (tenantId: string | undefined): void => checkSubject(store, manifest, { tenantId });
  return { seen, ...pastOf(coverage.covered(), since), checkTenant };
}
