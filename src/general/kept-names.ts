// The names of the files that svc keeps on this machine, which a reset removes.

import type { DirectoryKind } from '../cli/config/paths.ts';

/** The file names of svc in each directory. Other files belong to the operator, who may have chosen a shared directory. */
export const KEPT_NAMES: Readonly<Record<DirectoryKind, RegExp>> = {
  config: /^\.?config\.json(?:\..*)?$/,
  state: /^(?:\.?3ds-sessions\.json(?:\..*)?|archives|jobs|ledger|pacing|runs|sandbox|spool|tails)$/,
  cache: /^(?:index|\.?(?:(?:key-)?applications|entity-types|known-keys|permissions|tenants)\.json(?:\..*)?)$/,
};

/** The file names of svc in each directory below the state directory. */
export const KEPT_BELOW: Readonly<Record<string, RegExp>> = {
  archives: /^[0-9a-f]{16}(?:\..*)?$/,
  jobs: /^[\w-]{1,80}$/,
  ledger: /^(?:[\w-]{1,80}|\.lock.*)$/,
  pacing: /^(?:secret|[^.].*\.(?:json|log))(?:\..*)?$/,
  // An earlier build kept copies of request files there.
  runs: /^(?:run-.*|elsewhere|damaged|begin\.lock.*)$/,
  sandbox: /^(?:journal\.jsonl(?:\.[0-9a-f-]{36})?|ledger\.jsonl|files|objects|tenants)$/,
  spool: /^\.?(?:[0-9a-f]{8}-)?\d+-[0-9a-f]{12}\./,
  tails: /^\.?\d{8}T\d{6}-[0-9a-f]{8}\.json/,
};
