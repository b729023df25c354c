import { isSvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { readIfPossible } from '../../cli/app/read-if-possible.ts';
import { formatDuration, isoTime, parseTime } from '../../cli/output/time.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';

/** The age from which the cycle of a schedule is an old one. A cycle of a month and a late run of it are younger. */
const OLD_MS = 35 * DAY_MS;

/** A file whose submission is done. */
interface InCycle {
  readonly tenant: string;
  readonly name: string;
  /** The cycle as the operator named it; undefined for a file without one. */
  readonly cycle: string | undefined;
  /** The jobs with rows of the file; undefined if results of the cycle made all of its tokens. */
  readonly jobs: readonly string[] | undefined;
}

/**
 * Returns when the first job with rows of the file was created; null if the ledger does not respond in time. Warns if the
 * newest one is so old that nothing was sent now, and that a schedule may name the same cycle each time.
 * @throws SvcError `config` for a damaged ledger, and for one that is not the ledger of this machine
 */
export async function inCycleSince(context: Context, { tenant, name, cycle, jobs }: InCycle): Promise<string | null> {
  const claims = await readIfPossible(context, (limited) =>
    new CommandLedger(limited, { onlyReads: true }).claimsOf(tenant, cycle, jobs),
  );
  // Whether a later command pays for rows again depends on this, so that it is no mere addition.
  if (isSvcError(claims, 'config')) throw claims;
  if (isSvcError(claims)) return null;
  const times = claims.map((claim) => parseTime(claim.created_at)).filter((time) => time !== undefined);
  if (times.length === 0) return null;
  const age = (await context.client()).now() - Math.max(...times);
  if (cycle !== undefined && age > OLD_MS)
    context.notices.warn(
      `nothing was sent: the newest job with rows of ${name} in cycle ${cycle} is ${formatDuration(age)} old. If a schedule runs this command, give each of its cycles another name, such as the month`,
    );
  return jobs === undefined ? null : isoTime(Math.min(...times));
}
