import { cleanText } from '../render/clean.ts';
import { formatDuration } from '../render/time.ts';
import type { Painted, Stage } from './progress.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;
const ASCII_FRAMES = ['|', '/', '-', '\\'] as const;
const LINE_EVERY_MS = 5 * 60_000;

/** What was seen at one look. */
export interface Look {
  /** The state in the service's word: "processing". */
  readonly state: string;
  /** When the next look is, in epoch milliseconds. */
  readonly nextLookAt?: number | undefined;
}

/** A wait under way. */
export interface WaitProgress {
  update(look: Look): void;
  /** The wait is over; `outcome` is said in one line, or nothing without it. */
  done(outcome?: string): void;
  /** The wait was given up; the error itself is reported elsewhere. */
  fail(): void;
}

/** A wait: a spinner with state, age and next look on a terminal; elsewhere a line on change or each five minutes. */
export class Wait implements WaitProgress, Painted {
  readonly #label: string;
  readonly #stage: Stage;
  readonly #begun: number;
  #look: Look | undefined;
  #said: { readonly state: string; readonly at: number } | undefined;
  #open = true;

  constructor(label: string, stage: Stage) {
    this.#label = label;
    this.#stage = stage;
    this.#begun = stage.clock.now();
  }

  update(look: Look): void {
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

  line(now: number, frame: number): string {
    const frames = this.#stage.unicode ? FRAMES : ASCII_FRAMES;
    return `${frames[frame % frames.length] ?? ''} ${this.#text(now)}`;
  }

  #text(now: number): string {
    const parts = this.#look === undefined ? [] : [this.#look.state];
    if (now - this.#begun >= 1000) parts.push(`for ${formatDuration(now - this.#begun)}`);
    const next = this.#look?.nextLookAt;
    if (next !== undefined && next > now) parts.push(`next look in ${formatDuration(next - now)}`);
    return parts.length === 0 ? this.#label : `${this.#label}: ${parts.join(', ')}`;
  }

  #end(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#stage.leave(this);
  }
}
