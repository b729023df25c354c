import type { RunEvent } from '../runs/events.ts';
import type { TransferProgress } from '../terminal/transfer-progress.ts';
import type { WaitProgress } from '../terminal/wait-progress.ts';
import type { Context } from './context.ts';

/** Shows each step of a run as it happens. */
export function showRun(context: Context): (event: RunEvent) => void {
  const show = new RunProgress(context);
  context.onClose(() => show.stop());
  return (event) => show.show(event);
}

/** Shows the steps of a job's life: live lines on a terminal, plain ones elsewhere. */
class RunProgress {
  readonly #context: Context;
  #transfer: TransferProgress | undefined;
  #wait: WaitProgress | undefined;

  constructor(context: Context) {
    this.#context = context;
  }

  show(event: RunEvent): void {
    const { notices, clock } = this.#context;
    switch (event.kind) {
      case 'created':
        return notices.note(`created job ${event.job.id}`);
      case 'replaced':
        return notices.note(
          `job ${event.gone} expired before it had its file; created job ${event.job} in its place`,
        );
      case 'unclear':
        this.stop();
        return notices.warn(`${event.reason}; reading job ${event.job} before anything is sent again`);
      case 'uploading':
      case 'downloading':
        return this.#move(event);
      case 'uploaded':
      case 'downloaded':
        return this.#arrived();
      case 'looked':
        return this.#waiting(event.job).update({
          state: event.status,
          nextLookAt: clock.now() + event.nextMs,
        });
      case 'cut off':
        return this.#waiting(event.job).update({
          state: `no answer (${event.reason})`,
          nextLookAt: clock.now() + event.nextMs,
        });
      case 'completed':
        this.#wait?.done('completed');
        this.#wait = undefined;
    }
  }

  /** Takes away what is still shown: the work ended, well or not. */
  stop(): void {
    this.#transfer?.fail();
    this.#wait?.fail();
    this.#transfer = undefined;
    this.#wait = undefined;
  }

  #move({ kind, done, total }: Extract<RunEvent, { kind: 'uploading' | 'downloading' }>): void {
    this.#transfer ??= this.#context.progress.bytes(kind === 'uploading' ? 'upload' : 'download', total);
    this.#transfer.update(done);
  }

  #arrived(): void {
    this.#transfer?.done();
    this.#transfer = undefined;
  }

  #waiting(job: string): WaitProgress {
    return (this.#wait ??= this.#context.progress.waiting(job.startsWith('run-') ? job : `job ${job}`));
  }
}
