import { LINE_INTERVAL_MS, Task } from './task.ts';
import { cleanText } from './text.ts';
import { formatDuration } from './time.ts';

const MINUTE = 60_000;
const WAIT_LINE_INTERVAL_MS = 5 * MINUTE;

export interface PollState {
  /** The state that the service reports, such as "processing". */
  readonly state: string;
  /** The time of the next poll, in epoch milliseconds. */
  readonly nextPollAt?: number | undefined;
  /** The time at which the awaited work began, in epoch milliseconds. Default: the beginning of the wait. */
  readonly begun?: number | undefined;
  /** The usual duration of such a wait, in words. Shown after a minute. */
  readonly typical?: string | undefined;
}

/** A wait. A terminal shows a spinner with state, age and next poll. Elsewhere, a line is written on change or every 5 minutes. */
export class WaitProgress extends Task {
  #poll: PollState | undefined;
  #lastLine: { readonly state: string; readonly at: number } | undefined;

  update(poll: PollState): void {
    this.#poll = { ...poll, state: cleanText(poll.state) };
    const now = this.stage.clock.now();
    if (this.stage.isLive || !this.isOpen) return;
    const last = this.#lastLine;
    if (last !== undefined && now - last.at < pauseBetween(last.state, this.#poll.state)) return;
    this.#lastLine = { state: this.#poll.state, at: now };
    this.stage.notices.note(this.line(now));
  }

  /** Ends the wait. `outcome` is a line for a log; a terminal does not need this line, since output or an error follows. */
  done(outcome?: string): void {
    this.end();
    if (outcome !== undefined && !this.stage.isLive) this.say(outcome);
  }

  // Drops facts from the end when the terminal is narrow.
  line(now: number, columns = Infinity): string {
    const facts = this.#facts(now);
    const text = (): string => (facts.length === 0 ? this.label : `${this.label}: ${facts.join(', ')}`);
    while (facts.length > 1 && text().length > columns) facts.pop();
    return text();
  }

  #facts(now: number): string[] {
    const { state, nextPollAt = 0, begun = this.begun, typical } = this.#poll ?? {};
    const age = now - begun;
    const facts = [
      state,
      age >= 1000 && `for ${formatDuration(age)}`,
      nextPollAt > now && `next poll in ${formatDuration(nextPollAt - now)}`,
      age >= MINUTE && typical,
    ];
    return facts.filter((fact): fact is string => typeof fact === 'string' && fact !== '');
  }
}

/** Returns the least time between the lines of two states: none for a new state, 10 s if only numbers differ, 5 min if equal. */
function pauseBetween(state: string, next: string): number {
  if (state === next) return WAIT_LINE_INTERVAL_MS;
  return wordsIn(state) === wordsIn(next) ? LINE_INTERVAL_MS : 0;
}

function wordsIn(state: string): string {
  return state.replaceAll(/[\d.,]+/g, '');
}
