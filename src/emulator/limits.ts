import type { TenantType } from '../schema/tenant.ts';
import type { SandboxKey } from './keys.ts';

interface Limit {
  readonly requests: number;
  readonly windowMs: number;
  /** How long a key that exceeds the limit is blocked. */
  readonly blockMs?: number;
  readonly detail: string;
  /** Whether the limit applies to test tenants only, and counts all their keys together. */
  readonly testTenant?: boolean;
  applies(key: SandboxKey, path: string): boolean;
}

const LIMITS: readonly Limit[] = [
  {
    requests: 10,
    windowMs: 10_000,
    detail: 'Account Updater allows 10 requests in 10 seconds.',
    applies: (_, path) => path.startsWith('/account-updater/'),
  },
  {
    requests: 200,
    windowMs: 60_000,
    blockMs: 60_000,
    detail: 'Management keys are allowed 200 requests a minute.',
    applies: (key) => key.kind === 'management',
  },
  {
    requests: 50,
    windowMs: 10_000,
    detail: 'Test tenants are allowed 50 requests in 10 seconds.',
    testTenant: true,
    applies: () => true,
  },
];

/** The rate limits of the live service, counted over sliding windows. */
export class RateLimits {
  readonly #recent = new Map<string, number[]>();
  readonly #blocked = new Map<string, number>();

  /** Counts a request. For a request above a limit, returns the limit and the end of the wait. */
  check(key: SandboxKey, path: string, now: number, type: TenantType = 'test') {
    const counters = LIMITS.filter(
      (limit) => limit.applies(key, path) && (type === 'test' || limit.testTenant !== true),
    ).map((limit) => ({ limit, name: `${limit.detail} ${limit.testTenant === true ? '' : key.value}` }));
    for (const { limit, name } of counters) {
      const until = this.#waitUntil(limit, name, now);
      if (until !== undefined) return { until, detail: limit.detail };
    }
    for (const { name } of counters) this.#recent.get(name)?.push(now);
    return undefined;
  }

  #waitUntil(limit: Limit, name: string, now: number): number | undefined {
    const blockedUntil = this.#blocked.get(name) ?? 0;
    // A block that ends too late was set before the clock was set back, and does not count.
    if (now < blockedUntil && blockedUntil - now <= (limit.blockMs ?? 0)) return blockedUntil;
    const recent = (this.#recent.get(name) ?? []).filter((time) => time > now - limit.windowMs && time <= now);
    this.#recent.set(name, recent);
    const oldest = recent[0];
    if (oldest === undefined || recent.length < limit.requests) return undefined;
    if (limit.blockMs === undefined) return oldest + limit.windowMs;
    this.#blocked.set(name, now + limit.blockMs);
    return now + limit.blockMs;
  }
}
