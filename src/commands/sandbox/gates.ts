import { parseDuration } from '../../config/values.ts';
import { SvcError } from '../../errors.ts';
import type { LedgerEntry } from '../../sandbox/ledger.ts';
import { countText } from '../../output/time.ts';

export interface Expectation {
  /** Method and path pattern: `GET /logs`. */
  readonly call: string;
  readonly operator: '>=' | '<=' | '=' | '>' | '<';
  readonly count: number;
}

export interface RateLimit {
  readonly requests: number;
  readonly ms: number;
}

/** Reads `GET /logs>=1`, `POST /3ds/**=0`, or `GET /logs` for at least once. Throws `usage`. */
export function expectation(text: string): Expectation {
  const [, call, operator = '>=', count = '1'] =
    /^((?:\*|[A-Z]+) (?:\*\*|\/[^\s<>=]*))(?:(>=|<=|=|>|<)(\d{1,9}))?$/.exec(text) ?? [];
  if (call === undefined || !isOperator(operator))
    throw new SvcError('usage', "must be a method, a path and a count, such as 'GET /logs>=1'");
  return { call, operator, count: Number(count) };
}

/** Reads `10/10s`. Throws `usage`. */
export function rateLimit(text: string): RateLimit {
  const [, requests, duration = ''] = /^(\d{1,9})\/(\w+)$/.exec(text) ?? [];
  const ms = parseDuration(duration);
  if (requests === undefined || ms === undefined || ms === 0)
    throw new SvcError('usage', 'must be a number of requests and a time, such as 10/10s');
  return { requests: Number(requests), ms };
}

export type CountCalls = (call: string) => number;

export function unmet(
  gates: { readonly expect: readonly Expectation[]; readonly maxRate: RateLimit | undefined },
  times: readonly number[],
  count: CountCalls,
): string[] {
  const missed = gates.expect.flatMap(({ call, operator, count: wanted }) => {
    const seen = count(call);
    return COMPARE[operator](seen, wanted)
      ? []
      : [`${call} called ${seen === 1 ? 'once' : `${seen} times`}, expected ${operator}${wanted}`];
  });
  if (gates.maxRate === undefined) return missed;
  const { requests, ms } = gates.maxRate;
  const peak = peakRate(times, ms);
  return peak <= requests
    ? missed
    : [...missed, `${peak} requests within ${ms / 1000} s, expected at most ${requests}`];
}

/** The most of these times (in milliseconds, in any order) that lie within any span of `ms`. */
export function peakRate(times: readonly number[], ms: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  let first = 0;
  let peak = 0;
  for (const [last, time] of sorted.entries()) {
    while (time - (sorted[first] ?? time) >= ms) first += 1;
    peak = Math.max(peak, last - first + 1);
  }
  return peak;
}

/** Requests, failures by status and peak rate in one line. */
export function summary(calls: readonly LedgerEntry[]): string {
  const times = calls.map(({ at }) => Date.parse(at));
  const statuses = new Map<string, number>();
  for (const { status } of calls.filter(isFailure)) {
    const name = status === 0 ? 'no response' : String(status);
    statuses.set(name, (statuses.get(name) ?? 0) + 1);
  }
  const errors = [...statuses].map(([name, number]) => `${name} × ${number}`).join(', ');
  const failed = calls.filter(isFailure).length;
  return (
    `the sandbox received ${countText(calls.length, 'request')}, ${countText(failed, 'error')}${errors && ` (${errors})`}, ` +
    `at most ${peakRate(times, 1000)} in 1 s and ${peakRate(times, 10_000)} in 10 s`
  );
}

const COMPARE: Readonly<Record<Expectation['operator'], (seen: number, wanted: number) => boolean>> = {
  '>=': (seen, wanted) => seen >= wanted,
  '<=': (seen, wanted) => seen <= wanted,
  '=': (seen, wanted) => seen === wanted,
  '>': (seen, wanted) => seen > wanted,
  '<': (seen, wanted) => seen < wanted,
};

function isOperator(text: string): text is Expectation['operator'] {
  return Object.hasOwn(COMPARE, text);
}

function isFailure({ status }: LedgerEntry): boolean {
  return status >= 400 || status === 0;
}
