import type { ForwardResult } from './forward.ts';
import type { ReceivedEvent } from './received.ts';
import type { Refusal } from './refusal.ts';
import type { CommandResult } from './run-command.ts';

/** What happens beside the events themselves while a listener runs. */
export type Happening =
  | ({ readonly kind: 'refused' } & Refusal)
  | ({ readonly kind: 'forwarded'; readonly event: ReceivedEvent; readonly target: URL } & ForwardResult)
  | ({ readonly kind: 'ran'; readonly event: ReceivedEvent } & CommandResult)
  /** The command wrote a line. */
  | { readonly kind: 'said'; readonly line: string };
