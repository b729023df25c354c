// The output files of `svc au prepare`, which all appear together or not at all.

import { SvcError } from '../../base/errors.ts';
import { Draft, type SealedFile } from '../../base/files/draft.ts';
import { isSamePath } from '../../base/files/names.ts';
import type { System } from '../../base/system.ts';
import type { Context } from '../../cli/app/command.ts';
import { type NamedFile, refuseReplacing } from '../../cli/app/files/own-input.ts';
import { requireFile, resolvePath } from '../../cli/app/files/typed-path.ts';
import { openSpool } from '../request/spool.ts';
import type { PrepareOutputs } from './prepare.ts';
import { isRejectsFile } from './rejects-file.ts';

/** The names of the output files as the operator typed them. A request named `-` goes to standard output. */
export interface PreparedNames {
  readonly request: string;
  readonly rejects?: string | undefined;
  readonly keep?: string | undefined;
}

type Kind = keyof PreparedNames;

const KINDS = ['request', 'rejects', 'keep'] as const;

const OPTIONS: Readonly<Record<Kind, string>> = { request: '--out', rejects: '--rejects', keep: '--keep' };

/**
 * The private drafts of the output files. All get their final names together, once the whole export is known to be
 * valid.
 */
export class PreparedFiles {
  readonly names: PreparedNames;
  readonly #system: System;
  readonly #force: boolean;
  readonly #paths = new Map<Kind, string>();
  readonly #drafts = new Map<Kind, Draft>();

  private constructor(system: System, names: PreparedNames, force: boolean) {
    this.#system = system;
    this.names = names;
    this.#force = force;
  }

  /** Finds the paths of the files. @throws SvcError `usage` for a file that exists, or for two files with the same name */
  static async choose(
    context: Context,
    inputs: readonly NamedFile[],
    names: PreparedNames,
    force: boolean,
  ): Promise<PreparedFiles> {
    const files = new PreparedFiles(context.system, names, force);
    for (const kind of KINDS) await files.#choosePath(context, kind, inputs);
    return files;
  }

  /** Begins new drafts, in place of those of an earlier reading. */
  async begin(): Promise<void> {
    await this.discard();
    for (const [kind, path] of this.#paths) this.#drafts.set(kind, await Draft.begin(path, this.#system));
  }

  path(kind: Kind): string {
    return this.#paths.get(kind) ?? '';
  }

  outputs(): PrepareOutputs {
    const rejects = this.#drafts.get('rejects');
    const keep = this.#drafts.get('keep');
    return {
      request: (text) => this.#draft('request').write(text),
      rejects: rejects && ((text) => rejects.write(text)),
      keep: keep && ((text) => keep.write(text)),
    };
  }

  /** Gives all drafts their final names, the request last: a killed command leaves no request without the other files. */
  async finish(): Promise<SealedFile> {
    // If the disk is full, no draft gets its final name.
    for (const draft of this.#drafts.values()) await draft.seal();
    const request = await this.#draft('request').seal();
    for (const kind of KINDS.toReversed()) await this.finishOnly(kind);
    return request;
  }

  /** Gives only one draft its final name, if the draft exists. */
  async finishOnly(kind: Kind): Promise<void> {
    await this.#drafts.get(kind)?.finish(await this.#mayReplace(kind, this.path(kind)));
  }

  /** Removes the drafts that have no final name. */
  async discard(): Promise<void> {
    for (const draft of this.#drafts.values()) await draft.discard();
    this.#drafts.clear();
  }

  async #choosePath(context: Context, kind: Kind, inputs: readonly NamedFile[]): Promise<void> {
    const name = this.names[kind];
    if (name === undefined) return;
    if (name === '-' && kind !== 'request')
      throw new SvcError('usage', `${OPTIONS[kind]} takes a file`, { hint: 'Give a file name.' });
    // A pipe must receive nothing of a refused export, so the request is first written to a private file.
    const path = name === '-' ? await openSpool(context) : resolvePath(context, name);
    refuseReplacing(context.system, { name: OPTIONS[kind], typed: name }, inputs);
    if (kind !== 'request') requireOwnName(context, kind, path, [...this.#paths.values()]);
    if (name !== '-') await requireFile(path, await this.#mayReplace(kind, path));
    this.#paths.set(kind, path);
  }

  /** An earlier attempt's file of refused rows is replaced, so that the same command can be run again. */
  async #mayReplace(kind: Kind, path: string): Promise<boolean> {
    return this.#force || (kind === 'rejects' && (await isRejectsFile(path)));
  }

  #draft(kind: Kind): Draft {
    const draft = this.#drafts.get(kind);
    if (draft === undefined) throw new Error(`there is no file for ${kind}`);
    return draft;
  }
}

/** Refuses an output file that is also another output file. */
function requireOwnName(context: Context, kind: Kind, path: string, others: readonly string[]): void {
  const { platform } = context.system;
  if (!others.some((other) => isSamePath(other, path, platform))) return;
  throw new SvcError('usage', `${OPTIONS[kind]} names a file that the command uses for something else`, {
    hint: 'Give each file its own name.',
  });
}
