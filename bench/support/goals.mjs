// The goals, by measurement and figure. Each is a ratio of programs that ran in turns, processor time, memory, or time on a
// simulated clock: wall time alone would show how busy the machine is.

const atMost = (goal) => ({ goal });
const atLeast = (goal) => ({ goal, isFloor: true });

export const GOALS = {
  // Over an empty .mjs.
  'start-up': {
    'svc --version': atMost(1.1),
    'svc --help': atMost(1.3),
    'TAB after svc logs --': atMost(1.12),
    'svc profile list': atMost(1.6),
    'svc au check, 3 lines': atMost(2),
    'svc tenant show, one request': atMost(3),
  },
  // Over the Node inside it.
  executable: { 'svc profile list': atMost(1.4), 'svc tenant show, one request': atMost(2.2) },
  'round-trips': { 'svc over node:https': atMost(35) },
  'csv-check': { 'check over csv-parse': atLeast(8), 'check: memory': atMost(100) },
  prepare: { 'a row of the slowest export': atMost(3), 'memory for the largest': atMost(100) },
  files: {
    'au report, a million rows': atMost(2.5),
    'au next, a million rows': atMost(2.5),
    'memory, at most': atMost(100),
    'memory beyond that of few rows, at most': atMost(20),
  },
  transfer: {
    'PUT over curl for the bytes': atMost(1.3),
    'GET over curl for the bytes': atMost(3),
    'PUT over curl: processor time for the bytes': atMost(3),
    'GET over curl: processor time for the bytes': atMost(4),
  },
  logs: {
    'svc logs list --all over the plain client': atMost(1.3),
    'svc logs tail --since over the plain client': atMost(1.8),
    'svc logs archive over the plain client': atMost(1.8),
    'memory beyond that of few entries, at most': atMost(20),
  },
  backfill: { 'page by page over svc logs tail': atLeast(6) },
  archive: {
    'search over DuckDB': atMost(0.35),
    'search that makes the index over verify': atMost(1.3),
    'stats over DuckDB': atMost(1),
    'verify, a million entries': atMost(1.3),
  },
  follow: {
    '150/s: lag, 99 of 100': atMost(10),
    // The overlap of 120 s, and 15.
    '300/s: lag, 99 of 100': atMost(135),
  },
  // 40 rows.
  reach: { 'svc au submit tokens.csv --wait: syncs': atMost(24) },
};
