// Follows a log that grows all the time, with a clock that is set forward: how far behind each entry comes out, at the
// requests that a key's limits leave to one command. Ten minutes of each rate take a second.
//   node bench/follow.mjs [entries a second ...]
// Node 20 runs no TypeScript, so the tail is bundled into a temporary directory first.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { report } from './support/measure.mjs';

const given = process.argv.slice(2).map(Number);
const rates = given.length > 0 ? given : [50, 100, 150, 280, 300];
const START = Date.UTC(2026, 0, 5, 12);
const MINUTE = 60_000;
const LENGTH = 10 * MINUTE;
const OVERLAP = 2 * MINUTE;
const LATENCY = 150;
/** Of the 190 a minute that svc allows itself, a twentieth is left to other commands. */
const REQUESTS_A_MINUTE = 180;
const [PROMPT_GOAL, DELAYED_GOAL] = [12, OVERLAP / 1000 + 15];

/** Thrown out of a wait at the end. */
class Over extends Error {}

const directory = mkdtempSync(join(tmpdir(), 'svc-bench-'));
try {
  const { Tail, beginAt } = await bundle();
  const rows = [];
  for (const rate of rates) rows.push(...(await measure(Tail, beginAt, rate)));
  report(`10 minutes of following, overlap 120 s, responses after ${LATENCY} ms`, rows);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function bundle() {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const entry = join(directory, 'entry.ts');
  const names = ['follow', 'position'].map((name) => JSON.stringify(join(root, `src/logs/${name}.ts`)));
  writeFileSync(entry, names.map((name) => `export * from ${name};`).join('\n'));
  const build = await rolldown({ input: entry, platform: 'node', cwd: root, logLevel: 'silent' });
  await build.write({ file: join(directory, 'follow.mjs'), format: 'esm', codeSplitting: false });
  await build.close();
  return import(join(directory, 'follow.mjs'));
}

async function measure(Tail, beginAt, rate) {
  const service = growing(rate);
  const [lags, met] = [[], new Set()];
  let [requests, isDelayed, taken] = [0, false, 0];
  const onEvent = (event) => {
    if (event.kind === 'delayed') ({ isDelayed } = event);
  };
  const options = { begin: beginAt(START), overlapMs: OVERLAP, retentionMs: 24 * 60 * MINUTE, onEvent };
  try {
    for await (const logs of new Tail(service, options).batches()) {
      const now = service.now();
      taken += logs.length;
      for (const { message } of logs) met.add(message);
      // The first half is left out: by then the tail knows how busy the log is.
      if (now < START + LENGTH / 2) ({ requests } = service);
      else for (const { created_at: time } of logs) lags.push((now - Date.parse(time)) / 1000);
    }
  } catch (error) {
    if (!(error instanceof Over)) throw error;
  }
  lags.sort((one, other) => one - other);
  const goal = isDelayed ? DELAYED_GOAL : PROMPT_GOAL;
  return [
    { name: `${rate}/s: lag, median`, figure: lags[lags.length >> 1], unit: 's' },
    { name: `${rate}/s: lag, longest`, figure: lags.at(-1), unit: 's', goal },
    { name: `${rate}/s: repeated`, figure: taken - met.size, unit: 'entries', goal: 0 },
    { name: `${rate}/s: requests`, figure: (service.requests - requests) / (LENGTH / 2 / MINUTE), unit: 'a minute' },
  ];
}

/** A log that gets entries all the time, newest first, at a service that time goes by at. */
function growing(rate) {
  let now = START;
  const sent = [];
  const place = (time) => Math.max(0, Math.ceil(((time - START) / 1000) * rate));
  const pass = (ms) => {
    now += Math.max(0, ms);
    if (now > START + LENGTH) throw new Over();
  };
  const clock = { now: () => now, sleep: async (ms) => pass(ms) };
  return { clock, now: clock.now, signal: new AbortController().signal, requests: 0, pages };

  async function* pages({ from, to }, size) {
    for (let at = Infinity; ;) {
      pass((sent.at(-REQUESTS_A_MINUTE) ?? -Infinity) + MINUTE - now);
      sent.push(now);
      this.requests += 1;
      pass(LATENCY);
      const [first, end] = [place(from), Math.min(at, place(to), place(now))];
      at = Math.max(first, end - size);
      const numbers = Array.from({ length: Math.max(0, end - at) }, (_, index) => end - 1 - index);
      yield { items: numbers.map(entry), next: at > first ? String(at) : undefined };
      if (at <= first) return;
    }
  }

  function entry(number) {
    const time = new Date(START + (number * 1000) / rate).toISOString().slice(0, 19);
    return { created_at: `${time}Z`, message: String(number) };
  }
}
