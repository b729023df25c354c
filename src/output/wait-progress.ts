import type { LiveText } from './live-line.ts';
import type { Painted, Stage } from './progress.ts';
import { cleanText } from './text.ts';
import { formatDuration } from './time.ts';

const MINUTE = 60_000;
const LINE_EVERY_MS = 5 * MINUTE;
const SPINNER_COLUMNS = 2;

type Fact = 'age' | 'next poll' | 'typical';

/** What is said beside the state, in order; on narrower and narrower terminals the first choice that fits. */
const FACTS: readonly Fact[] = ['age', 'next poll', 'typical'];
const CHOICES: readonly (readonly Fact[])[] = [FACTS, ['age', 'next poll'], ['age']];

/** What a poll found. */
export interface PollState {
  /** The state in the service's word: "processing". */
  readonly state: string;
  /** When the next poll is, in epoch milliseconds. */
  readonly nextPollAt?: number | undefined;
  /** When what is waited for began, in epoch milliseconds; when the wait did unless given. */
  readonly begun?: number | undefined;
  /** How long such a wait usually takes, in words: said once it has lasted a minute. */
  readonly typical?: string | undefined;
}

/** A wait under way. */
export interface WaitProgress {
  update(look: PollState): void;
  /** The wait is over; `outcome` is said in one line, or nothing without it. */
  done(outcome?: string): void;
  /** The wait was given up; the error itself is reported elsewhere. */
  fail(): void;
}

/** A wait: a spinner with state, age and next poll on a terminal; elsewhere a line on change or each five minutes. */
export class Wait implements WaitProgress, Painted {
  readonly #label: string;
  readonly #stage: Stage;
  readonly #begun: number;
  #look: PollState | undefined;
  #said: { readonly state: string; readonly at: number } | undefined;
  #open = true;

  constructor(label: string, stage: Stage) {
    this.#label = label;
    this.#stage = stage;
    this.#begun = stage.clock.now();
  }

  update(look: PollState): void {
    this.#look = { ...look, state: cleanText(look.state) };
    const now = this.#stage.clock.now();
    if (this.#stage.isLive || !this.#open) return;
    const isNews = this.#said?.state !== this.#look.state || now - this.#said.at >= LINE_EVERY_MS;
    if (!isNews) return;
    this.#said = { state: this.#look.state, at: now };
    this.#stage.note(this.#text(now));
  }

  done(outcome?: string): void {
    this.#end();
    if (outcome !== undefined) this.#stage.note(`${this.#label}: ${outcome}`);
  }

  fail(): void {
    this.#end();
  }

  line(now: number, columns: number): LiveText {
    const texts = CHOICES.map((facts) => this.#text(now, facts));
    const fits = texts.find((text) => text.length <= columns - SPINNER_COLUMNS);
    return { text: fits ?? this.#text(now, []) };
  }

  #text(now: number, facts: readonly Fact[] = FACTS): string {
    const words = [this.#look?.state, ...facts.map((fact) => this.#fact(fact, now))];
    const said = words.filter(Boolean).join(', ');
    return said === '' ? this.#label : `${this.#label}: ${said}`;
  }

  #fact(fact: Fact, now: number): string | undefined {
    const next = this.#look?.nextPollAt;
    const age = now - (this.#look?.begun ?? this.#begun);
    if (fact === 'age') return age >= 1000 ? `for ${formatDuration(age)}` : undefined;
    if (fact === 'typical') return age >= MINUTE ? this.#look?.typical : undefined;
    return next !== undefined && next > now ? `next poll in ${formatDuration(next - now)}` : undefined;
  }

  #end(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#stage.leave(this);
  }
}
