import fs from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { IS_SOAK } from '../../support/cases.ts';
import { svcHere } from '../../support/run-here.ts';
import { Tampering } from './tampers.ts';
import { temporaryDirectory } from '../../support/directory.ts';

/**
 * The result of `svc logs verify` for a tampered archive, without a hash from before the tamper. With that hash, it
 * finds every tamper that is not harmless.
 */
type Alone =
  | 'found'
  /** The archive is consistent, as if written that way. Only its newest hash differs. */
  | 'another hash'
  /** The output stays the same. */
  | 'harmless';

/** A tamper, and its outcome without a hash. */
export type Tamper = readonly [name: string, alone: Alone, harm: (archive: Tampering) => void];

/** Verifies an archive. Resolves to the exit code, all rows and the hash of the newest record. */
export async function verify(top: string, ...argv: string[]) {
  const { code, stdout } = await svcHere(['logs', 'verify', top, '-o', 'jsonl', ...argv]);
  return { code, stdout, newest: /"sha256":"([0-9a-f]{64})"\}\n$/.exec(stdout)?.[1] };
}

/** Resolves to the outcome of each tamper of a copy, verified without and with the hash from before it. */
export async function outcomes(
  { top, hash }: { readonly top: string; readonly hash: string },
  tampers: readonly Tamper[],
) {
  const honest = await verify(top);
  expect([honest.code, honest.newest]).toEqual([0, hash]);
  const folder = temporaryDirectory();
  const found: Record<string, readonly [alone: string, withHash: string]> = {};
  for (const [index, [name, , harm]] of tampers.entries()) {
    const copy = path.join(folder, String(index));
    fs.cpSync(top, copy, { recursive: true });
    harm(new Tampering(copy));
    const alone = outcomeOf(await verify(copy), honest);
    // What is found without the hash is found with it: every fourth shows that, and each in a soak.
    const isKnown = alone === 'found' && index % 4 !== 0 && !IS_SOAK;
    found[name] = [alone, isKnown ? alone : outcomeOf(await verify(copy, '--expect', hash), honest)];
  }
  return found;
}

type Verified = Awaited<ReturnType<typeof verify>>;

function outcomeOf({ code, stdout, newest }: Verified, honest: Verified): string {
  if (code === 12 && stdout.includes('"kind":"finding"')) return 'found';
  if (code !== 0) return `exit code ${code}`;
  if (stdout === honest.stdout) return 'harmless';
  return newest === honest.newest ? 'not noticed' : 'another hash';
}

/** Returns the outcomes that tampers must have: with the hash, all that are not harmless are found. */
export function expected(tampers: readonly Tamper[]) {
  return Object.fromEntries(
    tampers.map(([name, alone]) => [name, [alone, alone === 'harmless' ? 'harmless' : 'found']]),
  );
}
