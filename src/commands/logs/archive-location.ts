import type { Context } from '../../app/command.ts';
import { argument, text } from '../../app/parameter.ts';
import { SvcError } from '../../errors.ts';
import type { CoverageRange } from '../../logs/archive/coverage.ts';
import type { ArchiveStore } from '../../logs/archive/store.ts';
import { S3_SECRETS } from '../../logs/s3/settings.ts';
import { formatDuration, formatNumber, formatTime, isoTime } from '../../output/time.ts';
import type { Environment } from '../../system.ts';

/** The place of an archive that is read. */
export const archiveLocation = argument('<dir>', 'the place of the archive, or s3://bucket/prefix', text);

/**
 * Opens the place of an archive as it was typed, without looking at it. From here on the credentials of a bucket are
 * kept out of all output. `signal` ends its work; by default the command's.
 * @throws SvcError `usage`, and for a bucket `key_missing`, `config`
 */
export async function openArchive(
  context: Context,
  place: string,
  signal = context.signal,
): Promise<ArchiveStore> {
  const { openArchiveStore } = await import('../../logs/archive/store.ts');
  const { clock, system, notices, trace } = context;
  const { platform, home, cwd, pid } = system;
  const env = isBucket(place) ? await bucketEnvironment(context) : system.env;
  const isAlive = (one: number): boolean => system.isAlive(one);
  const onWarning = (words: string): void => notices.warn(words);
  const host = { env, platform, home, cwd, pid, isAlive, clock, signal, onWarning, trace };
  return openArchiveStore(host, place);
}

function isBucket(place: string): boolean {
  return /^s3:/i.test(place);
}

async function bucketEnvironment(context: Context): Promise<Environment> {
  if (context.globals.curl)
    throw new SvcError('usage', '--curl shows no requests to a bucket, and they come first', {
      hint: 'Leave --curl out.',
    });
  const env = await context.storeEnvironment();
  for (const name of S3_SECRETS) context.addSecret(env[name]?.trim() ?? '');
  return env;
}

/** A time range in words, with its length. */
export function rangeText({ settings, out, clock }: Context, one: CoverageRange): string {
  const style = settings.time.value ?? (out.isTerminal ? 'local' : 'utc');
  const [from, to] = [one.from, one.to].map((at) => formatTime(isoTime(at), style, clock.now()));
  return `${from ?? ''} to ${to ?? ''} (${formatDuration(one.to - one.from)})`;
}

/** A number with its noun. */
export function countText(count: number, noun: string): string {
  const plural = noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${formatNumber(count)} ${count === 1 ? noun : plural}`;
}
