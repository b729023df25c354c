import { setMaxListeners } from 'node:events';
import type { Context } from './context.ts';

/** Longer than a last commit to a bucket takes that can be reached. */
const GRACE_MS = 10_000;

/**
 * A signal for work that is brought to its end when the command is asked to end: it follows the command's own signal at
 * once, or, from `begin` on, a little later.
 */
export class Grace {
  readonly #ended = new AbortController();
  #hasBegun = false;

  constructor(context: Pick<Context, 'signal' | 'clock' | 'onClose'>) {
    setMaxListeners(0, this.#ended.signal);
    const over = new AbortController();
    context.onClose(() => over.abort());
    const end = (): void => this.#ended.abort(context.signal.reason);
    const follow = (): void => {
      if (this.#hasBegun) context.clock.sleep(GRACE_MS, over.signal).then(end, () => undefined);
      else end();
    };
    if (context.signal.aborted) end();
    else context.signal.addEventListener('abort', follow, { once: true });
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** From now on there is something to bring to its end. */
  begin(): void {
    this.#hasBegun = true;
  }
}
