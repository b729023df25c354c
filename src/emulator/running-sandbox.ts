import type { TenantType } from '../schema/tenant.ts';
import type { SandboxKey } from './keys.ts';
import type { LedgerEntry } from './ledger.ts';

/** A tenant of the sandbox. */
export interface SandboxTenant {
  readonly id: string;
  readonly type: TenantType;
  readonly management_key: string;
  readonly private_key: string;
}

export interface RunningSandbox {
  /** Base URL, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** The keys of the first tenant. */
  readonly keys: readonly SandboxKey[];
  /** Every tenant with the keys that have all permissions. */
  readonly tenants: readonly SandboxTenant[];
  /** The milliseconds by which the sandbox's clock was ahead of the machine's clock at the start. */
  readonly clockOffset: number;
  /** The requests that this process received, if it keeps them. */
  ledger(): LedgerEntry[];
  /** Ends open connections and releases the directory. */
  close(): Promise<void>;
}
