/** How far a transfer is, in bytes. `total` is undefined where the store does not say. */
export interface Progress {
  readonly done: number;
  readonly total: number | undefined;
}

/** Receives progress, at most once a piece (64 KiB to 1 MiB). */
export type OnProgress = (progress: Progress) => void;
