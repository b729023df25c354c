/** A step of a workflow or of a composite action. */
export interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly if?: string;
  readonly run?: string;
  readonly shell?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, unknown>>;
}

/** A job of a workflow. */
export interface Job {
  readonly steps: readonly Step[];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
}
