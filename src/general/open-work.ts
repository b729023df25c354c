import path from 'node:path';
import { openClaims } from '../au/open-claims.ts';
import type { Context } from '../cli/app/command.ts';
import { nextCommand } from '../cli/app/hint.ts';
import { tenantInUse } from '../cli/app/tenant-mark.ts';
import { KEY_TYPES } from '../cli/config/keys.ts';
import { directoryOf } from '../cli/config/paths.ts';
import { countText, formatDuration } from '../cli/output/time.ts';
import { DAY_MS, MINUTE_MS } from '../schema/durations.ts';
import { agedText, keyAge } from './key-age.ts';

/** A key that was stored longer ago should be replaced. */
const OLD_KEY_MS = 90 * DAY_MS;

/** Returns a line for each thing that is open, with the command for it. It sends no request and writes nothing. */
export function openWork(context: Context): string[] {
  const { globals, system } = context;
  const open = [jobsLine(context), ...keyLines(context)].filter((line) => line !== undefined);
  return open.map(([text, ...words]) => `${text}: ${nextCommand(words, globals, system)}`);
}

type Line = readonly [text: string, ...words: string[]];

/** Tells of jobs that have rows and whose results nobody has read. */
function jobsLine(context: Context): Line | undefined {
  const { system, settings, clock } = context;
  const state = directoryOf(system, 'state');
  if (state === undefined) return undefined;
  const ledgers = path.join(state, 'ledger', ...(settings.sandbox ? ['sandbox'] : []));
  const claims = openClaims(ledgers, tenantInUse(context)?.id);
  if (claims.length === 0) return undefined;
  const age = roughly(clock.now() - Math.min(...claims.map(({ at }) => at)));
  return [`${countText(claims.length, 'job')} open for ${age}`, 'au', 'status'];
}

function keyLines(context: Context): Line[] {
  const ages = KEY_TYPES.flatMap((type) => keyAge(context, type) ?? []);
  const old = ages.filter(({ ageMs = 0 }) => ageMs > OLD_KEY_MS);
  return old.map((age) => [`the ${age.type} key was ${agedText(age)}`, 'login', '--rotate']);
}

/** Formats a duration in whole minutes once it has one. */
function roughly(ms: number): string {
  return formatDuration(ms < MINUTE_MS ? Math.max(0, ms) : Math.floor(ms / MINUTE_MS) * MINUTE_MS);
}
