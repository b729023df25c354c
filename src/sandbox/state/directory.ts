import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

/** Paths of a sandbox's state. */
export interface StatePaths {
  readonly directory: string;
  readonly journal: string;
  readonly ledger: string;
  /** Request and result files. */
  readonly files: string;
  /** What the buckets hold. */
  readonly objects: string;
}

/** The paths below a state directory. */
export function statePaths(directory: string): StatePaths {
  return {
    directory,
    journal: join(directory, 'journal.jsonl'),
    ledger: join(directory, 'ledger.jsonl'),
    files: join(directory, 'files'),
    objects: join(directory, 'objects'),
  };
}

/** Makes the directory, for its owner alone. Throws when it holds other things than a sandbox. */
export function prepareDirectory(paths: StatePaths): void {
  mkdirSync(paths.directory, { recursive: true, mode: 0o700 });
  if (!existsSync(paths.journal) && readdirSync(paths.directory).some((name) => !isOurs(name)))
    throw new Error(`${paths.directory} holds other files than a sandbox's`);
  if ((statSync(paths.directory).mode & 0o077) !== 0) chmodSync(paths.directory, 0o700);
  mkdirSync(paths.files, { recursive: true, mode: 0o700 });
}

/** Forgets everything that a sandbox knows. Sandboxes that run on the directory start anew. */
export function resetSandbox(directory: string): void {
  const paths = statePaths(directory);
  for (const path of [paths.journal, paths.files, paths.objects])
    rmSync(path, { recursive: true, force: true });
  // Running sandboxes go on writing to the same file.
  if (existsSync(paths.ledger)) truncateSync(paths.ledger);
}

function isOurs(name: string): boolean {
  return /^(journal\.jsonl|ledger\.jsonl|files|objects)/.test(name);
}
