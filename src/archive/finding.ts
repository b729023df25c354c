/** What is wrong with a part of an archive. */
export type Problem =
  /** Its bytes are not those that were written. */
  | 'changed'
  /** It is shorter, or longer, than what was written. */
  | 'cut'
  | 'grown'
  /** It was written and is gone. */
  | 'missing'
  /** No record lists it. */
  | 'unlisted'
  /** It cannot be read as what it should be. */
  | 'damaged'
  /** It says something else than what it stands for. */
  | 'unfit'
  /** The chain holds no record of the hash that was asked for. */
  | 'rewritten';

/** One thing that is wrong with an archive, and where. */
export interface Finding {
  readonly problem: Problem;
  readonly path: string;
  /** What was found there, for people. */
  readonly message: string;
}
