import type { DeliveryEvent, WebhookEvent } from '../state/events.ts';

// Pauses before the second attempt and those after it, in milliseconds of the sandbox's time.
const RETRY_PAUSES_MS: readonly number[] = [1000, 5000, 30_000, 120_000];

interface Progress {
  attempts: number;
  lastAt: number;
  done: boolean;
}

/** Which addresses are to hear of events, and what they have heard, as the journal tells it. */
export class Deliveries {
  /** Time from which on an address hears of events, by address. */
  readonly addresses = new Map<string, number>();
  readonly #progress = new Map<string, Progress>();

  apply(event: WebhookEvent | DeliveryEvent): void {
    if (event.type === 'webhook') {
      if (!this.addresses.has(event.url)) this.addresses.set(event.url, event.at);
      return;
    }
    const name = nameOf(event.url, event.event);
    const before = this.#progress.get(name);
    const done = before?.done === true || isTaken(event.status);
    this.#progress.set(name, { attempts: (before?.attempts ?? 0) + 1, lastAt: event.at, done });
  }

  /** Whether an event is to be sent to an address now: not taken yet, attempts left, and the pause over. */
  isDue(url: string, event: string, now: number): boolean {
    const progress = this.#progress.get(nameOf(url, event));
    if (progress === undefined) return true;
    const pause = RETRY_PAUSES_MS[progress.attempts - 1];
    return !progress.done && pause !== undefined && now >= progress.lastAt + pause;
  }
}

/** Whether an answer says that the event was taken. */
export function isTaken(status: number): boolean {
  return status >= 200 && status < 300;
}

function nameOf(url: string, event: string): string {
  return `${event} ${url}`;
}
