/** What the core tells about its work while it goes on. No event holds a key; addresses may hold a query. */
export type TraceEvent =
  | { readonly kind: 'request'; readonly method: string; readonly url: URL; readonly attempt: number }
  | {
      readonly kind: 'answer';
      readonly method: string;
      readonly url: URL;
      readonly status: number;
      readonly ms: number;
      readonly requestId: string | undefined;
    }
  | {
      readonly kind: 'failure';
      readonly method: string;
      readonly url: URL;
      readonly reason: string;
      readonly ms: number;
    }
  | { readonly kind: 'wait'; readonly why: 'retry' | 'rate limit' | 'pacing' | 'store'; readonly ms: number };

/** Receives trace events. */
export type Trace = (event: TraceEvent) => void;
