import type { Clock } from '../../base/system.ts';
import type { Messages } from './messages.ts';

/** Without a terminal, a line is written this often while only numbers change. */
export const LINE_INTERVAL_MS = 10_000;

/** What the tasks use of the place where they are shown. */
export interface Stage {
  readonly clock: Clock;
  /** Whether a line is painted, so that plain lines need not be written. */
  readonly isLive: boolean;
  /** Whether the painted line shows block characters. */
  readonly unicode: boolean;
  readonly notices: Messages;
  leave(task: Task): void;
}

/** Work in progress, with a label, a beginning and an end. */
export abstract class Task {
  protected readonly label: string;
  protected readonly stage: Stage;
  protected readonly begun: number;
  protected isOpen = true;
  /** Whether a line of this task was painted. */
  protected wasShown = false;

  constructor(label: string, stage: Stage) {
    this.label = label;
    this.stage = stage;
    this.begun = stage.clock.now();
  }

  /** Returns the text to show now, within `columns` if possible. */
  abstract line(now: number, columns: number): string;

  /** Returns the line to paint. */
  show(now: number, columns: number): string {
    this.wasShown = true;
    return this.line(now, columns);
  }

  protected say(text: string, how: 'note' | 'success' = 'note'): void {
    this.stage.notices[how](`${this.label}: ${text}`);
  }

  /** Ends the task. Returns false if it had ended before. */
  protected end(): boolean {
    if (!this.isOpen) return false;
    this.isOpen = false;
    this.stage.leave(this);
    return true;
  }
}
