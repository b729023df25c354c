/** The most usual words of other tools, such as gh, stripe, aws and kubectl, and those of svc for the same. */
export interface OtherTools {
  /** By the words typed after `svc`, the words of the command. */
  readonly commands: Readonly<Record<string, string>>;
  /** By the typed option, the option of the commands that have it. */
  readonly options: Readonly<Record<string, string>>;
}
