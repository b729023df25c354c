import type { SandboxKey } from './keys.ts';
import type { TenantType } from './routes/tenant.ts';

/** A limit that a request ran into. */
export interface Limited {
  /** Until when to wait, in milliseconds of the sandbox's time. */
  readonly until: number;
  readonly detail: string;
  /** Whether the answer says how long. */
  readonly told: boolean;
}

interface Limit {
  readonly requests: number;
  readonly windowMs: number;
  /** Set where running into the limit shuts the key out for a while. */
  readonly blockMs?: number;
  readonly detail: string;
  /** Whether it holds for test tenants only. */
  readonly testOnly?: boolean;
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
    testOnly: true,
    applies: () => true,
  },
];

// A test tenant's limit counts the requests of all its keys together; the others count by key.
const TENANT_WIDE = LIMITS.length - 1;

/** The rate limits of the live service, counted over sliding windows. */
export class RateLimits {
  readonly #recent = new Map<string, number[]>();
  readonly #blocked = new Map<string, number>();

  readonly #told: boolean;

  /** `told`: whether refusals say how long to wait. */
  constructor(told: boolean) {
    this.#told = told;
  }

  /** Counts a request; tells the limit when it is one too many. Refused requests are not counted. */
  check(key: SandboxKey, path: string, now: number, type: TenantType = 'test'): Limited | undefined {
    const counters = LIMITS.flatMap((limit, index) =>
      limit.applies(key, path) && (type === 'test' || limit.testOnly !== true)
        ? [{ limit, name: `${index} ${index === TENANT_WIDE ? '' : key.value}` }]
        : [],
    );
    for (const { limit, name } of counters) {
      const limited = this.#tooMany(limit, name, now);
      if (limited !== undefined) return limited;
    }
    for (const { name } of counters) this.#recent.get(name)?.push(now);
    return undefined;
  }

  #tooMany(limit: Limit, name: string, now: number): Limited | undefined {
    const blockedUntil = this.#blocked.get(name) ?? 0;
    // After the clock was set back nothing that lies ahead counts.
    if (now < blockedUntil && blockedUntil - now <= (limit.blockMs ?? 0))
      return this.#limited(limit, blockedUntil);
    const recent = (this.#recent.get(name) ?? []).filter(
      (time) => time > now - limit.windowMs && time <= now,
    );
    this.#recent.set(name, recent);
    const oldest = recent[0];
    if (oldest === undefined || recent.length < limit.requests) return undefined;
    if (limit.blockMs === undefined) return this.#limited(limit, oldest + limit.windowMs);
    this.#blocked.set(name, now + limit.blockMs);
    return this.#limited(limit, now + limit.blockMs);
  }

  #limited({ detail }: Limit, until: number): Limited {
    return { until, detail, told: this.#told };
  }
}
