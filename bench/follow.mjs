// Measures how late each entry comes out when the tail follows a log that grows at random, with the pacing of a command
// that shares its key. The clock is simulated, so that half an hour of each rate takes some seconds.
//   MINUTES=30 npm run bench follow [entries a second ...]
// Node 20 runs no TypeScript, so the tail is bundled into a temporary directory first.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { report } from './support/measure.mjs';

const given = process.argv.slice(2).map(Number);
const rates = given.length > 0 ? given : [30, 100, 150, 300];
const START = Date.UTC(2026, 0, 5, 12);
const MINUTE = 60_000;
const LENGTH = Number(process.env.MINUTES ?? 30) * MINUTE;
const OVERLAP = 2 * MINUTE;
const LATENCY = 150;
/** The longest delay in milliseconds after which the service shows an entry. */
const LATEST = 400;
const BEFORE = LENGTH / 6;

/** The error that ends a wait when the measured time is over. */
class Over extends Error {}

const directory = mkdtempSync(join(tmpdir(), 'svc-bench-'));
try {
  const library = await bundle();
  const rows = [];
  for (const rate of rates) rows.push(...(await measure(library, rate)));
  report('follow', `${LENGTH / MINUTE} minutes of following, overlap 120 s, responses after ${LATENCY} ms`, rows);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function bundle() {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const entry = join(directory, 'entry.ts');
  const names = ['logs/tail/follow', 'logs/entry', 'client/http/pacer'].map((name) =>
    JSON.stringify(join(root, `src/${name}.ts`)),
  );
  writeFileSync(entry, names.map((name) => `export * from ${name};`).join('\n'));
  const build = await rolldown({ input: entry, platform: 'node', cwd: root, logLevel: 'silent' });
  await build.write({ file: join(directory, 'follow.mjs'), format: 'esm', codeSplitting: false });
  await build.close();
  return import(join(directory, 'follow.mjs'));
}

async function measure({ Tail, beginAt, Pacer, RateLedger, KNOWN_RATES }, rate) {
  // With a shared ledger, the tail leaves some requests to other commands.
  const ledger = Object.assign(new RateLedger(), { isShared: true });
  const service = growing(rate, (clock) => new Pacer(KNOWN_RATES, clock, ledger));
  const [lags, met] = [[], new Set()];
  let [requests, taken, switches] = [0, 0, 0];
  const onEvent = ({ kind }) => {
    if (kind === 'delayed') switches += 1;
  };
  const options = { begin: beginAt(START), overlapMs: OVERLAP, retentionMs: 24 * 60 * MINUTE, onEvent };
  try {
    for await (const batch of new Tail(service, options).batches()) {
      const now = service.now();
      taken += batch.length;
      for (const { message } of batch) met.add(message);
      // The first minutes do not count, since the tail has yet to learn how busy the log is.
      if (now < START + BEFORE) ({ requests } = service);
      else for (const { message } of batch) lags.push((now - service.timeOf(Number(message))) / 1000);
    }
  } catch (error) {
    if (!(error instanceof Over)) throw error;
  }
  lags.sort((one, other) => one - other);
  return [
    { name: `${rate}/s: lag, median`, figure: lags[lags.length >> 1], unit: 's' },
    { name: `${rate}/s: lag, 99 of 100`, figure: lags[Math.floor(lags.length * 0.99)], unit: 's' },
    { name: `${rate}/s: lag, longest`, figure: lags.at(-1), unit: 's' },
    { name: `${rate}/s: repeated`, figure: taken - met.size, unit: 'entries' },
    { name: `${rate}/s: changes of the way to read`, figure: switches, unit: '' },
    {
      name: `${rate}/s: requests`,
      figure: (service.requests - requests) / ((LENGTH - BEFORE) / MINUTE),
      unit: 'a minute',
    },
  ];
}

/** Returns a simulated service whose log grows all the time, and whose requests take time on its clock. */
function growing(rate, pacerOf) {
  let now = START;
  const pass = (ms) => {
    now += Math.max(0, ms);
    if (now > START + LENGTH) throw new Over();
  };
  const clock = { now: () => now, sleep: async (ms) => pass(ms) };
  const pacer = pacerOf(clock);
  const random = randomFrom(rate);
  const times = [];
  for (let at = START; at < START + LENGTH; at -= Math.log(1 - random()) * (1000 / rate)) times.push(at);
  const seenAt = times.map((at) => at + random() * LATEST);
  const request = { key: 'management', path: '/logs' };
  return { clock, now: clock.now, signal: new AbortController().signal, requests: 0, pages, timeOf: (at) => times[at] };

  async function* pages({ from, to }, size) {
    const first = place(from);
    for (let at = place(to); ;) {
      const answered = await pacer.take(request, undefined, () => {});
      this.requests += 1;
      pass(LATENCY);
      await answered();
      const items = [];
      while (at > first && items.length < size) if (seenAt[(at -= 1)] <= now) items.push(entry(at));
      yield { items, next: at > first ? String(at) : undefined };
      if (at <= first) return;
    }
  }

  /** Returns the number of entries before a time. */
  function place(time) {
    let [low, high] = [0, times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function entry(number) {
    return { created_at: new Date(times[number]).toISOString(), message: String(number) };
  }
}

/** Returns a generator of numbers from 0 to 1, which depend only on the seed. */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
